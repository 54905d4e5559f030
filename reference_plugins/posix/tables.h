// The tables of the posix plugin, and how a plugin hands such tables to TensorFlow.
//
// plugin.cc is the plugin; the fakes take the same tables, change one thing, and register them
// under another scheme.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_

#include "tf_filesystem_plugin.h"

namespace posix {

// Each comes from the file of the same theme: random_access_file.cc, writable_file.cc,
// memory_region.cc, filesystem.cc.
TF_RandomAccessFileOps RandomAccessFileOps();
TF_WritableFileOps WritableFileOps();
TF_ReadOnlyMemoryRegionOps MemoryRegionOps();
TF_FilesystemOps FilesystemOps();

// The four tables of one scheme.
struct Tables {
  TF_FilesystemOps filesystem = FilesystemOps();
  TF_RandomAccessFileOps random_access_file = RandomAccessFileOps();
  TF_WritableFileOps writable_file = WritableFileOps();
  TF_ReadOnlyMemoryRegionOps memory_region = MemoryRegionOps();
};

// Fills `info` as TF_InitPlugin must: one entry, for `scheme`. Where there is no memory for it,
// `info` says that the plugin has no schemes.
void Register(const char* scheme, const Tables& tables, TF_FilesystemPluginInfo* info) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_
