// The table of the plugin: that of objectstore, with objects that come through Dragonfly.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_

#include "tf_filesystem_plugin.h"

namespace dragonfly {

constexpr char kScheme[] = "dragonfly";

// All ops.
TF_FilesystemOps FilesystemOps();

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_
