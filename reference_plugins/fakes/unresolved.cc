// libunresolved.so: needs functions that no host has for plugins: one of TensorFlow's C++ names,
// and one that nobody has.

#include "tf_filesystem_plugin.h"

namespace tsl {
class mutex {
 public:
  void unlock();
};
}  // namespace tsl

extern "C" {
void TF_NoSuchFunction();

void TF_InitPlugin(TF_FilesystemPluginInfo*) {
  tsl::mutex().unlock();
  TF_NoSuchFunction();
}
}
