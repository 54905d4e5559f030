// Registration: what TF_InitPlugin leaves behind for TensorFlow.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_REGISTRATION_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_REGISTRATION_H_

#include "tf_filesystem_plugin.h"

namespace support {

// The four tables of one scheme. An op that is NULL is not there.
struct Tables {
  TF_FilesystemOps filesystem = {};
  TF_RandomAccessFileOps random_access_file = {};
  TF_WritableFileOps writable_file = {};
  TF_ReadOnlyMemoryRegionOps memory_region = {};
};

// Fills `info` as TF_InitPlugin must: one entry, for `scheme`. Where there is no memory for it,
// `info` says that the plugin has no schemes.
void Register(const char* scheme, const Tables& tables, TF_FilesystemPluginInfo* info) noexcept;

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_REGISTRATION_H_
