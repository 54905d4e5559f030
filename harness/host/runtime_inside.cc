// The runtime is part of this program, which is one file and needs no other.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

namespace {

// The compiler notes the file among those that this one is made of: what it has cached is right.
const unsigned char kRuntime[] = {
#embed TFFS_RUNTIME_FILE
};

}  // namespace

namespace tffs {

// glibc knows the library by its SONAME from then on, and gives it to plugins that need it.
std::string RuntimeName() {
  // Where no descriptor of the plugin is expected.
  constexpr int kDescriptor = 230;
  const int file = memfd_create("libtensorflow_framework.so.2", MFD_CLOEXEC);
  if (file < 0 || write(file, kRuntime, sizeof kRuntime) != sizeof kRuntime) return "";
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, kDescriptor);
  close(file);
  return "/proc/self/fd/" + std::to_string(moved);
}

}  // namespace tffs
