// A plugin of this alone: s3x://bucket/key, with the configuration that S3X_CONFIG_PATH names.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3X_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3X_H_

#include "tf_filesystem_plugin.h"

namespace objectstore {

constexpr char kScheme[] = "s3x";

// All ops.
TF_FilesystemOps S3xOps();

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3X_H_
