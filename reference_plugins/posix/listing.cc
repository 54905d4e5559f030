#include "listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "memory.h"
#include "paths.h"
#include "status.h"

namespace posix {
namespace {

bool HasGlobCharacter(std::string_view text) {
  return text.find_first_of("*?[\\") != std::string_view::npos;
}

bool Exists(const std::string& path) {
  struct stat facts;
  return lstat(path.c_str(), &facts) == 0;
}

// Adds the children of `parents` that match one component of a pattern to `matches`. Gives 0 or an
// errno value.
int MatchLevel(const std::vector<std::string>& parents, const std::string& component,
               std::vector<std::string>* matches) {
  for (const std::string& parent : parents) {
    const std::string stem = parent.empty() || parent.back() == '/' ? parent : parent + "/";
    if (!HasGlobCharacter(component)) {
      if (Exists(stem + component)) matches->push_back(stem + component);
      continue;
    }
    Descriptor directory =
        Descriptor::Open(stem.empty() ? "." : stem.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory.is_open()) {
      // What is missing, a file, or closed to us holds no matches; that is an answer, not a
      // failure.
      if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) continue;
      return errno;
    }
    std::vector<Entry> entries;
    const int error = List(std::move(directory), &entries);
    if (error != 0) return error;
    for (const Entry& entry : entries) {
      if (fnmatch(component.c_str(), entry.name.c_str(), 0) == 0) {
        matches->push_back(stem + entry.name);
      }
    }
  }
  return 0;
}

}  // namespace

int List(Descriptor directory, std::vector<Entry>* entries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(directory.get()), closedir);
  if (stream == nullptr) return errno;
  directory.Release();  // the stream closes it
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries->push_back({std::string(name), entry->d_type});
  }
}

int GetChildren(const TF_Filesystem*, const char* path, char*** entries,
                TF_Status* status) noexcept {
  return Guarded(status, path, -1, [&] {
    Descriptor directory = Descriptor::Open(path, O_RDONLY | O_DIRECTORY);
    std::vector<Entry> listed;
    const int error = directory.is_open() ? List(std::move(directory), &listed) : errno;
    if (error != 0) {
      SetErrno(status, error, path);
      return -1;
    }
    std::vector<std::string> names;
    for (Entry& entry : listed) names.push_back(std::move(entry.name));
    const int count = CopyNames(names, entries);
    SetOk(status);
    return count;
  });
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with its
// scheme and host.
int GetMatchingPaths(const TF_Filesystem*, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  return Guarded(status, pattern, -1, [&] {
    const Uri uri = ParseUri(pattern);
    const std::string path = uri.path.empty() && !uri.prefix.empty() ? "/" : std::string(uri.path);
    std::vector<std::string> results;
    if (!HasGlobCharacter(path)) {
      if (!path.empty() && Exists(CleanPath(path))) results.push_back(pattern);
    } else {
      std::vector<std::string> matches = {path.front() == '/' ? "/" : ""};
      for (const std::string_view component : Components(path)) {
        std::vector<std::string> below;
        const int error = MatchLevel(matches, std::string(component), &below);
        if (error != 0) {
          SetErrno(status, error, pattern);
          return -1;
        }
        matches = std::move(below);
      }
      std::sort(matches.begin(), matches.end());
      for (const std::string& match : matches) results.push_back(std::string(uri.prefix) + match);
    }
    const int count = CopyNames(results, entries);
    SetOk(status);
    return count;
  });
}

}  // namespace posix
