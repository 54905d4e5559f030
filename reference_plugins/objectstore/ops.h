// The ops, and the tables they are in. Each file of ops has the local paths first, which go to
// posix as they are, and then the objects.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OPS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OPS_H_

#include <cstdint>

#include "tf_filesystem_plugin.h"

namespace objectstore {

// All but init and get_filesystem_configuration: who calls itself how is the plugin's own affair.
TF_FilesystemOps FilesystemOps();
TF_RandomAccessFileOps RandomAccessFileOps();
TF_WritableFileOps WritableFileOps();
TF_ReadOnlyMemoryRegionOps MemoryRegionOps();

// random_access_file.cc, writable_file.cc, memory_region.cc
void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept;
void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept;
void NewAppendableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept;
void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept;

// directory_ops.cc
void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept;

// deletion_ops.cc
void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept;

// move_ops.cc
void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept;
void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept;

// query_ops.cc
void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept;
void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept;
bool IsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
int64_t GetFileSize(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;

// listing_ops.cc
int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept;
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept;

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OPS_H_
