// The one symbol that a filesystem plugin exports.

#include "ops.h"
#include "tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  posix::Tables tables;
  tables.filesystem = dragonfly::FilesystemOps();
  tables.random_access_file = dragonfly::RandomAccessFileOps();
  tables.writable_file = dragonfly::WritableFileOps();
  tables.memory_region = dragonfly::MemoryRegionOps();
  posix::Register("dragonfly", tables, info);
}
