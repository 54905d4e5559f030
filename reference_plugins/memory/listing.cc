// What a directory holds, and what a pattern matches.

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "filesystem.h"
#include "ops.h"
#include "support/glob.h"
#include "support/memory.h"
#include "support/paths.h"
#include "view.h"

namespace memory {
namespace {

// The paths that match a pattern.
std::vector<std::string> Matches(const Tree& tree, const std::string& pattern) {
  support::GlobTree names;
  names.look = [&](const std::string& path, bool, bool* there) {
    *there = tree.Find(path) != nullptr;
    return 0;
  };
  names.list = [&](const std::string& directory, const std::string&, bool,
                   std::vector<std::string>* found) {
    tree.EachChild(directory, [&](std::string_view name) {
      found->emplace_back(name);
      return true;
    });
    return 0;
  };
  std::vector<std::string> matches;
  support::Glob(pattern, names, &matches);
  return matches;
}

}  // namespace

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept {
  int count = -1;
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).Reach(at, &entry);
    if (error != 0) return error;
    if (!entry->is_directory()) return ENOTDIR;
    std::vector<std::string> names;
    state.tree.EachChild(at, [&](std::string_view name) {
      names.emplace_back(name);
      return true;
    });
    count = support::CopyNames(names, entries);
    return 0;
  });
  return count;
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with its
// scheme and host, and relative where it is relative.
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  return support::Guarded(status, pattern, -1, [&] {
    const support::Uri uri = support::ParseUri(pattern);
    const std::string path = uri.path.empty() && !uri.prefix.empty() ? "/" : std::string(uri.path);
    std::vector<std::string> results;
    if (!path.empty()) {
      Filesystem& state = Get(filesystem);
      const std::lock_guard<std::mutex> lock(state.mutex);
      results = Matches(state.tree, "/" + path);
    }
    for (std::string& result : results) {
      if (path.front() != '/') result.erase(0, 1);
      result.insert(0, uri.prefix);
    }
    // What has nothing to match is one name, and stays as it is spelt.
    if (!results.empty() && !support::HasGlobCharacter(path)) results.front() = pattern;
    const int count = support::CopyNames(results, entries);
    support::SetOk(status);
    return count;
  });
}

}  // namespace memory
