// What a directory holds, and what a pattern matches.

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesystem.h"
#include "memory.h"
#include "ops.h"
#include "paths.h"
#include "view.h"

namespace memory {
namespace {

bool HasGlobCharacter(std::string_view text) {
  return text.find_first_of("*?[\\") != std::string_view::npos;
}

// The paths that match a pattern, component by component.
std::vector<std::string> Matches(const Tree& tree, std::string_view pattern) {
  std::vector<std::string> found = {"/"};
  for (const std::string_view part : posix::Components(pattern)) {
    const std::string component(part);
    std::vector<std::string> below;
    for (const std::string& directory : found) {
      const std::string stem = StemOf(directory);
      if (!HasGlobCharacter(component)) {
        if (tree.Find(stem + component) != nullptr) below.push_back(stem + component);
        continue;
      }
      tree.EachChild(directory, [&](std::string_view name) {
        if (fnmatch(component.c_str(), std::string(name).c_str(), 0) == 0) {
          below.push_back(stem + std::string(name));
        }
        return true;
      });
    }
    found = std::move(below);
  }
  std::sort(found.begin(), found.end());
  return found;
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
    count = posix::CopyNames(names, entries);
    return 0;
  });
  return count;
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with its
// scheme and host, and relative where it is relative.
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  return posix::Guarded(status, pattern, -1, [&] {
    const posix::Uri uri = posix::ParseUri(pattern);
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
    if (!results.empty() && !HasGlobCharacter(path)) results.front() = pattern;
    const int count = posix::CopyNames(results, entries);
    posix::SetOk(status);
    return count;
  });
}

}  // namespace memory
