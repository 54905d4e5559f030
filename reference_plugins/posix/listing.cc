#include "listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "support/glob.h"
#include "support/memory.h"
#include "support/paths.h"
#include "support/status.h"

namespace posix {
namespace {

int NamesIn(const std::string& directory, std::vector<std::string>* names) {
  support::Descriptor opened = support::Descriptor::Open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened.is_open()) return errno;
  std::vector<Entry> entries;
  const int error = List(std::move(opened), &entries);
  for (Entry& entry : entries) names->push_back(std::move(entry.name));
  return error;
}

// What is missing, a file, or closed to us holds no matches; that is an answer, not a failure.
bool HoldsNothing(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

// Finds out whether something is at a path. Gives 0 or an errno value.
int Look(const std::string& path, bool* there) {
  struct stat facts;
  *there = lstat(path.c_str(), &facts) == 0;
  return *there || HoldsNothing(errno) || errno == ENAMETOOLONG ? 0 : errno;
}

}  // namespace

int List(support::Descriptor directory, std::vector<Entry>* entries) {
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
  return support::Guarded(status, path, -1, [&] {
    std::vector<std::string> names;
    const int error = NamesIn(path, &names);
    if (error != 0) {
      support::SetErrno(status, error, path);
      return -1;
    }
    const int count = support::CopyNames(names, entries);
    support::SetOk(status);
    return count;
  });
}

// The pattern is the one path that comes untranslated. Matches go back the way it came: with its
// scheme and host.
int GetMatchingPaths(const TF_Filesystem*, const char* pattern, char*** entries,
                     TF_Status* status) noexcept {
  return support::Guarded(status, pattern, -1, [&] {
    const support::Uri uri = support::ParseUri(pattern);
    const std::string path = uri.path.empty() && !uri.prefix.empty() ? "/" : std::string(uri.path);
    std::vector<std::string> results;
    int error = 0;
    if (!support::HasGlobCharacter(path)) {
      bool there = false;
      if (!path.empty()) error = Look(support::CleanPath(path), &there);
      if (there) results.push_back(pattern);
    } else {
      support::GlobTree tree;
      tree.look = [](const std::string& at, bool, bool* there) { return Look(at, there); };
      tree.list = [](const std::string& directory, const std::string&, bool,
                     std::vector<std::string>* names) {
        // A pattern without a leading / begins in the working directory.
        const int unlisted = NamesIn(directory.empty() ? "." : directory, names);
        return HoldsNothing(unlisted) ? 0 : unlisted;
      };
      std::vector<std::string> matches;
      error = support::Glob(path, tree, &matches);
      for (const std::string& match : matches) results.push_back(std::string(uri.prefix) + match);
    }
    if (error != 0) {
      support::SetErrno(status, error, pattern);
      return -1;
    }
    const int count = support::CopyNames(results, entries);
    support::SetOk(status);
    return count;
  });
}

}  // namespace posix
