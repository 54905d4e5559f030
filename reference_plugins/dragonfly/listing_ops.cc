// What a directory holds, and what a pattern matches.

#include <fnmatch.h>

#include <string>
#include <string_view>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "listing.h"
#include "memory.h"
#include "ops.h"
#include "paths.h"

namespace dragonfly {
namespace {

constexpr char kGlobCharacters[] = "*?[\\";

bool HasGlobCharacter(std::string_view text) {
  return text.find_first_of(kGlobCharacters) != std::string_view::npos;
}

// The keys that match all of `components`, one level of the tree after the other. A level without
// glob characters costs nothing until the last.
std::vector<std::string> Matches(const Tree& tree, const std::string& bucket,
                                 const std::vector<std::string_view>& components) {
  std::vector<std::string> matches = {""};
  for (size_t level = 0; level < components.size(); ++level) {
    const std::string component(components[level]);
    const bool last = level + 1 == components.size();
    std::vector<std::string> below;
    for (const std::string& match : matches) {
      const std::string stem = match.empty() ? "" : match + "/";
      if (!HasGlobCharacter(component)) {
        const bool there = !last || tree.Look({bucket, stem + component}).kind != Kind::kNothing;
        if (there) below.push_back(stem + component);
        continue;
      }
      const std::string start = component.substr(0, component.find_first_of(kGlobCharacters));
      for (const Child& child : tree.Children({bucket, match}, start)) {
        const bool leads_on = last || child.kind == Kind::kDirectory;
        if (leads_on && fnmatch(component.c_str(), child.name.c_str(), 0) == 0) {
          below.push_back(stem + child.name);
        }
      }
    }
    matches = std::move(below);
  }
  return matches;
}

}  // namespace

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept {
  if (const char* local = LocalPath(path)) {
    return posix::GetChildren(filesystem, local, entries, status);
  }
  return Perform(status, path, -1, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    std::vector<std::string> names;
    for (Child& child : state->tree.Children(name)) names.push_back(std::move(child.name));
    // A directory with nothing in it, a file, or nothing at all?
    if (names.empty() && !name.key.empty()) {
      const Kind kind = state->tree.Look(name).kind;
      if (kind == Kind::kNothing) throw Failure(TF_NOT_FOUND, "there is no such directory");
      if (kind == Kind::kFile) throw Failure(TF_FAILED_PRECONDITION, "this is a file");
    }
    return posix::CopyNames(names, entries);
  });
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with scheme
// and bucket.
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  if (LocalPath(pattern) != nullptr) {
    return posix::GetMatchingPaths(filesystem, pattern, entries, status);
  }
  return Perform(status, pattern, -1, [&] {
    const auto state = Get(filesystem);
    const posix::Uri uri = posix::ParseUri(pattern);
    const std::string prefix(uri.prefix);
    const Name bucket = ObjectName(state->config, prefix.c_str());
    const std::string path = posix::CleanPath(uri.path.empty() ? "/" : uri.path);
    std::vector<std::string> results;
    try {
      if (!HasGlobCharacter(path)) {
        const Name name = ObjectName(state->config, (prefix + path).c_str());
        if (state->tree.Look(name).kind != Kind::kNothing) results.emplace_back(pattern);
      } else {
        for (const std::string& key :
             Matches(state->tree, bucket.bucket, posix::Components(path))) {
          results.push_back(prefix + "/" + key);
        }
      }
    } catch (const Failure& failure) {
      // A bucket that is not there holds no matches; that is an answer, not a failure.
      if (failure.code() != TF_NOT_FOUND) throw;
    }
    return posix::CopyNames(results, entries);
  });
}

}  // namespace dragonfly
