// The ops that make and remove files and directories.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_DIRECTORIES_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_DIRECTORIES_H_

#include <cstdint>

#include "tf_filesystem_plugin.h"

namespace posix {

void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept;
void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_DIRECTORIES_H_
