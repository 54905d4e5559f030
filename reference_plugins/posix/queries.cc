#include "queries.h"

#include <sys/stat.h>

#include <cerrno>

#include "support/status.h"

namespace posix {

void PathExists(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  struct stat facts;
  if (stat(path, &facts) != 0) return support::SetErrno(status, errno, path);
  support::SetOk(status);
}

bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept {
  bool all = true;
  for (int k = 0; k < num_files; ++k) {
    if (statuses != nullptr) {
      PathExists(filesystem, paths[k], statuses[k]);
      all = TF_GetCode(statuses[k]) == TF_OK && all;
    } else {
      // Nobody wants to know which: the first that is missing settles it.
      struct stat facts;
      if (stat(paths[k], &facts) != 0) return false;
    }
  }
  return all;
}

void Stat(const TF_Filesystem*, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  constexpr int64_t kNanosecondsInSecond = 1000000000;
  struct stat facts;
  if (stat(path, &facts) != 0) return support::SetErrno(status, errno, path);
  statistics->length = facts.st_size;
  statistics->mtime_nsec = facts.st_mtim.tv_sec * kNanosecondsInSecond + facts.st_mtim.tv_nsec;
  statistics->is_directory = S_ISDIR(facts.st_mode);
  support::SetOk(status);
}

// The header would have {false, OK} for a file. TensorFlow looks at the status only, so that
// reading would make every file a directory; this is the one TensorFlow works with.
bool IsDirectory(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  struct stat facts;
  const int error = stat(path, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? 0 : ENOTDIR;
  support::SetErrno(status, error, path);
  return error == 0;
}

int64_t GetFileSize(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  struct stat facts;
  const int error = stat(path, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? EISDIR : 0;
  support::SetErrno(status, error, path);
  return error == 0 ? facts.st_size : -1;
}

}  // namespace posix
