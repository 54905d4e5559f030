// The one symbol that a filesystem plugin exports. TensorFlow calls it once, right after it has
// loaded the shared object.

#include "tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  support::Register("posix", posix::AllTables(), info);
}
