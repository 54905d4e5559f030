#include "directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "listing.h"
#include "support/descriptor.h"
#include "support/status.h"

namespace posix {
namespace {

// What is left of a tree, and why.
struct Leftovers {
  uint64_t files = 0;
  uint64_t dirs = 0;
  int error = 0;  // the first errno value

  void Failed(int reason) {
    if (error == 0) error = reason;
  }
};

// Removes what `directory` holds apart from directories, whose paths it adds to `found`.
void Empty(const std::string& directory, std::vector<std::string>* found, Leftovers* left) {
  // O_NOFOLLOW: a link that takes the place of a directory must not lead out of the tree.
  support::Descriptor opened =
      support::Descriptor::Open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened.is_open()) return left->Failed(errno);
  const support::Descriptor base(fcntl(opened.get(), F_DUPFD_CLOEXEC, 0));
  if (!base.is_open()) return left->Failed(errno);
  std::vector<Entry> entries;
  const int error = List(std::move(opened), &entries);
  if (error != 0) left->Failed(error);
  for (const Entry& entry : entries) {
    // Not every filesystem tells types with names; then a removal that fails tells.
    if (entry.type != DT_DIR && unlinkat(base.get(), entry.name.c_str(), 0) == 0) continue;
    if (entry.type == DT_DIR || errno == EISDIR) {
      found->push_back(directory + "/" + entry.name);
    } else if (errno != ENOENT) {
      left->Failed(errno);
      ++left->files;
    }
  }
}

Leftovers DeleteTree(const char* root) {
  Leftovers left;
  // Parents stand before their children, so the way back removes children first. A list, and no
  // recursion: neither the stack nor the descriptors of the process bound the depth of the tree.
  std::vector<std::string> directories = {root};
  for (size_t k = 0; k < directories.size(); ++k) {
    const std::string directory = directories[k];
    Empty(directory, &directories, &left);
  }
  while (!directories.empty()) {
    if (rmdir(directories.back().c_str()) != 0 && errno != ENOENT) {
      left.Failed(errno);
      ++left.dirs;
    }
    directories.pop_back();
  }
  return left;
}

}  // namespace

void CreateDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  if (mkdir(path, 0777) != 0) return support::SetErrno(status, errno, path);
  support::SetOk(status);
}

void RecursivelyCreateDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  support::Guarded(status, path, [&] {
    const std::string whole = path;
    int error = 0;
    for (size_t end = 0; end < whole.size() && error == 0;) {
      end = whole.find('/', end + 1);
      if (end == std::string::npos) end = whole.size();
      // What is there already, or comes into being meanwhile, is welcome; if it is no directory,
      // the next level says so.
      if (mkdir(whole.substr(0, end).c_str(), 0777) != 0 && errno != EEXIST) error = errno;
    }
    struct stat facts;
    if (error == 0 && stat(path, &facts) != 0) error = errno;
    if (error == 0 && !S_ISDIR(facts.st_mode)) error = ENOTDIR;
    // Every parent that can be made was made: a name that is still missing (empty, or a link to
    // nowhere) is no valid path.
    if (error == ENOENT) error = ENOTDIR;
    support::SetErrno(status, error, path);
  });
}

void DeleteFile(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  if (unlink(path) != 0) return support::SetErrno(status, errno, path);
  support::SetOk(status);
}

void DeleteDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  if (rmdir(path) != 0) return support::SetErrno(status, errno, path);
  support::SetOk(status);
}

// The counters come uninitialised, and are read whatever the status says.
void DeleteRecursively(const TF_Filesystem*, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  support::Guarded(status, path, [&] {
    struct stat facts;
    if (lstat(path, &facts) != 0) return support::SetErrno(status, errno, path);
    Leftovers left;
    if (S_ISDIR(facts.st_mode)) {
      left = DeleteTree(path);
    } else if (unlink(path) != 0) {
      left.Failed(errno);
      left.files = 1;
    }
    *undeleted_files = left.files;
    *undeleted_dirs = left.dirs;
    support::SetErrno(status, left.files + left.dirs == 0 ? 0 : left.error, path);
  });
}

}  // namespace posix
