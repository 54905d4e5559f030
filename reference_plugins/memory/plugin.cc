// The one symbol that a filesystem plugin exports.

#include "filesystem.h"
#include "ops.h"
#include "support/registration.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const support::Tables tables = {memory::FilesystemOps(), memory::RandomAccessFileOps(),
                                  memory::WritableFileOps(), memory::MemoryRegionOps()};
  support::Register(memory::kScheme, tables, info);
}
