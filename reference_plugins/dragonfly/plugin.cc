// The one symbol that a filesystem plugin exports.

#include "ops.h"
#include "support/registration.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const support::Tables tables = {dragonfly::FilesystemOps(), dragonfly::RandomAccessFileOps(),
                                  dragonfly::WritableFileOps(), dragonfly::MemoryRegionOps()};
  support::Register("dragonfly", tables, info);
}
