// The one symbol that a filesystem plugin exports.

#include "filesystem.h"
#include "ops.h"
#include "tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const posix::Tables tables = {memory::FilesystemOps(), memory::RandomAccessFileOps(),
                                memory::WritableFileOps(), memory::MemoryRegionOps()};
  posix::Register(memory::kScheme, tables, info);
}
