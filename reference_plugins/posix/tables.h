// The tables of the posix plugin.
//
// plugin.cc is the plugin; the fakes take the same tables, change one thing, and register them
// under another scheme.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_

#include "support/registration.h"
#include "tf_filesystem_plugin.h"

namespace posix {

// Each comes from the file of the same theme: random_access_file.cc, writable_file.cc,
// memory_region.cc, filesystem.cc.
TF_RandomAccessFileOps RandomAccessFileOps();
TF_WritableFileOps WritableFileOps();
TF_ReadOnlyMemoryRegionOps MemoryRegionOps();
TF_FilesystemOps FilesystemOps();

// All four.
inline support::Tables AllTables() {
  return {FilesystemOps(), RandomAccessFileOps(), WritableFileOps(), MemoryRegionOps()};
}

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_TABLES_H_
