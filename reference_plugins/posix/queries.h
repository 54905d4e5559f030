// The ops that ask about paths and change nothing.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_QUERIES_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_QUERIES_H_

#include <cstdint>

#include "tf_filesystem_plugin.h"

namespace posix {

void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept;
void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept;
bool IsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
int64_t GetFileSize(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_QUERIES_H_
