// libunresolved.so: needs functions that a host need not have: one of TensorFlow's C++ names, one
// of its C functions that have nothing to do with filesystems, and one that nobody has.

#include "tf_filesystem_plugin.h"

namespace tsl {
class mutex {
 public:
  void unlock();
};
}  // namespace tsl

extern "C" {
void TF_NoSuchFunction();
void TF_CreateDir(const char* path, TF_Status* status);

void TF_InitPlugin(TF_FilesystemPluginInfo*) {
  tsl::mutex().unlock();
  TF_NoSuchFunction();
  TF_CreateDir("", nullptr);
}
}
