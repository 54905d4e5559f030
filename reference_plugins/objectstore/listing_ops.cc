// What a directory holds, and what a pattern matches.

#include <string>
#include <utility>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/listing.h"
#include "support/glob.h"
#include "support/memory.h"
#include "support/paths.h"

namespace objectstore {
namespace {

// The paths in a bucket that match a pattern. A level without glob characters costs no request
// until the last.
std::vector<std::string> Matches(const Tree& tree, const std::string& bucket,
                                 const std::string& pattern) {
  const auto name_of = [&](const std::string& path) { return Name{bucket, path.substr(1)}; };
  support::GlobTree keys;
  keys.look = [&](const std::string& path, bool last, bool* there) {
    *there = !last || tree.Look(name_of(path)).kind != Kind::kNothing;
    return 0;
  };
  keys.list = [&](const std::string& directory, const std::string& start, bool last,
                  std::vector<std::string>* names) {
    for (Child& child : tree.Children(name_of(directory), start).children) {
      if (last || child.kind == Kind::kDirectory) names->push_back(std::move(child.name));
    }
    return 0;
  };
  std::vector<std::string> matches;
  support::Glob(pattern, keys, &matches);
  return matches;
}

}  // namespace

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return posix::GetChildren(filesystem, local, entries, status);
  }
  return Perform(status, path, -1, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    Listing listing = state->tree.Children(name);
    if (!listing.is_there && !name.key.empty()) {
      state->tree.File(name);
      throw Failure(TF_FAILED_PRECONDITION, "this is a file");
    }
    std::vector<std::string> names;
    for (Child& child : listing.children) names.push_back(std::move(child.name));
    return support::CopyNames(names, entries);
  });
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with scheme
// and bucket.
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  if (LocalPath(filesystem, pattern) != nullptr) {
    return posix::GetMatchingPaths(filesystem, pattern, entries, status);
  }
  return Perform(status, pattern, -1, [&] {
    const auto state = Get(filesystem);
    const support::Uri uri = support::ParseUri(pattern);
    const std::string prefix(uri.prefix);
    const Name bucket = ObjectName(state->config, prefix.c_str());
    const std::string path = support::CleanPath(uri.path.empty() ? "/" : uri.path);
    std::vector<std::string> results;
    try {
      if (!support::HasGlobCharacter(path)) {
        const Name name = ObjectName(state->config, (prefix + path).c_str());
        if (state->tree.Look(name).kind != Kind::kNothing) results.emplace_back(pattern);
      } else {
        for (const std::string& match : Matches(state->tree, bucket.bucket, path)) {
          results.push_back(prefix + match);
        }
      }
    } catch (const Failure& failure) {
      // A bucket that is not there holds no matches; that is an answer, not a failure.
      if (failure.code() != TF_NOT_FOUND) throw;
    }
    return support::CopyNames(results, entries);
  });
}

}  // namespace objectstore
