#include "local_files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace tffs {
namespace {

constexpr std::string_view kFile = "file://";
constexpr std::string_view kAuthority = "://";

// What of a tree could not be deleted.
struct Left {
  int64_t files = 0;
  int64_t directories = 0;
  int error = 0;  // the first one
};

void Note(Left& left, int64_t& count) {
  ++count;
  if (left.error == 0) left.error = errno;
}

// Links are deleted, not followed.
void DeleteTree(const std::string& path, Left& left) {
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0) return Note(left, left.directories);
  if (!S_ISDIR(facts.st_mode)) {
    if (unlink(path.c_str()) != 0) Note(left, left.files);
    return;
  }
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return Note(left, left.directories);
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") DeleteTree(path + "/" + std::string(name), left);
  }
  closedir(directory);
  if (rmdir(path.c_str()) != 0) Note(left, left.directories);
}

}  // namespace

std::optional<std::string> LocalPath(const char* name, TF_Status* status) {
  const std::string_view given = name;
  if (given.substr(0, kFile.size()) == kFile) return std::string(given.substr(kFile.size()));
  const size_t end = given.find(kAuthority);
  if (end == std::string_view::npos || given.find('/') < end) return std::string(given);
  const std::string message = "File system scheme '" + std::string(given.substr(0, end)) +
                              "' not implemented (file: '" + name + "')";
  TF_SetStatus(status, TF_UNIMPLEMENTED, message.c_str());
  return std::nullopt;
}

void SetOutcome(bool succeeded, const std::string& path, TF_Status* status) {
  if (succeeded) {
    TF_SetStatus(status, TF_OK, "");
  } else {
    TF_SetStatusFromIOError(status, errno, path.c_str());
  }
}

}  // namespace tffs

void TF_CreateDir(const char* dirname, TF_Status* status) {
  const auto path = tffs::LocalPath(dirname, status);
  if (!path) return;
  // As TensorFlow has it: the directory without a name is there.
  if (path->empty()) return TF_SetStatus(status, TF_ALREADY_EXISTS, dirname);
  tffs::SetOutcome(mkdir(path->c_str(), 0755) == 0, *path, status);
}

void TF_DeleteDir(const char* dirname, TF_Status* status) {
  if (const auto path = tffs::LocalPath(dirname, status))
    tffs::SetOutcome(rmdir(path->c_str()) == 0, *path, status);
}

void TF_DeleteFile(const char* filename, TF_Status* status) {
  if (const auto path = tffs::LocalPath(filename, status))
    tffs::SetOutcome(unlink(path->c_str()) == 0, *path, status);
}

void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                          int64_t* undeleted_dir_count, TF_Status* status) {
  *undeleted_file_count = 0;
  *undeleted_dir_count = 0;
  const auto path = tffs::LocalPath(dirname, status);
  if (!path) return;
  tffs::Left left;
  tffs::DeleteTree(*path, left);
  *undeleted_file_count = left.files;
  *undeleted_dir_count = left.directories;
  errno = left.error;
  tffs::SetOutcome(left.error == 0, *path, status);
}

void TF_FileStat(const char* filename, TF_FileStatistics* stats, TF_Status* status) {
  const auto path = tffs::LocalPath(filename, status);
  if (!path) return;
  struct stat facts;
  const bool known = stat(path->c_str(), &facts) == 0;
  // In whole seconds, as TensorFlow gives it.
  if (known)
    *stats = {facts.st_size, facts.st_mtime * int64_t{1'000'000'000}, S_ISDIR(facts.st_mode)};
  tffs::SetOutcome(known, *path, status);
}
