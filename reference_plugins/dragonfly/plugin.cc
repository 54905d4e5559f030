// The one symbol that a filesystem plugin exports.

#include "dragonfly/filesystem.h"
#include "objectstore/ops.h"
#include "support/registration.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const support::Tables tables = {dragonfly::FilesystemOps(), objectstore::RandomAccessFileOps(),
                                  objectstore::WritableFileOps(), objectstore::MemoryRegionOps()};
  support::Register(dragonfly::kScheme, tables, info);
}
