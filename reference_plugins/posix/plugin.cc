// The one symbol that a filesystem plugin exports. TensorFlow calls it once, right after it has
// loaded the shared object.

#include "tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  posix::Register("posix", posix::Tables(), info);
}
