// All ops of the filesystem's table but init, cleanup and two that have nothing to do; the other
// three tables. Each is in the file of its theme.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_OPS_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_OPS_H_

#include <cstdint>

#include "tf_filesystem_plugin.h"

namespace memory {

// random_access_file.cc, writable_file.cc, memory_region.cc. On an error the object stays as it
// came: TensorFlow drops it without a cleanup.
void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept;
void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept;
void NewAppendableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept;
void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept;
TF_RandomAccessFileOps RandomAccessFileOps();
TF_WritableFileOps WritableFileOps();
TF_ReadOnlyMemoryRegionOps MemoryRegionOps();

// directories.cc
void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept;
void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept;

// rename_copy.cc
void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept;
void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept;

// queries.cc
void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept;
void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept;
bool IsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;
int64_t GetFileSize(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept;

// listing.cc
int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept;
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept;

// transaction_ops.cc
int StartTransaction(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                     TF_Status* status) noexcept;
int EndTransaction(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                   TF_Status* status) noexcept;
int AddToTransaction(const TF_Filesystem* filesystem, const char* path, TF_TransactionToken* token,
                     TF_Status* status) noexcept;
int GetTransactionForPath(const TF_Filesystem* filesystem, const char* path,
                          TF_TransactionToken** token, TF_Status* status) noexcept;
int GetOrStartTransactionForPath(const TF_Filesystem* filesystem, const char* path,
                                 TF_TransactionToken** token, TF_Status* status) noexcept;
char* DecodeTransactionToken(const TF_Filesystem* filesystem,
                             const TF_TransactionToken* token) noexcept;

// configuration.cc
void GetConfiguration(const TF_Filesystem* filesystem, TF_Filesystem_Option** options,
                      int* num_options, TF_Status* status) noexcept;
void SetConfiguration(const TF_Filesystem* filesystem, const TF_Filesystem_Option* options,
                      int num_options, TF_Status* status) noexcept;
void GetOption(const TF_Filesystem* filesystem, const char* key, TF_Filesystem_Option** option,
               TF_Status* status) noexcept;
void SetOption(const TF_Filesystem* filesystem, const TF_Filesystem_Option* option,
               TF_Status* status) noexcept;
void GetKeys(const TF_Filesystem* filesystem, char** keys, int* num_keys,
             TF_Status* status) noexcept;

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_OPS_H_
