// The runtime is part of this program, which is one file and needs no other.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

asm(R"(
  .pushsection .rodata
  .global tffs_runtime_begin
  .hidden tffs_runtime_begin
  .global tffs_runtime_end
  .hidden tffs_runtime_end
tffs_runtime_begin:
  .incbin ")" TFFS_RUNTIME_FILE R"("
tffs_runtime_end:
  .popsection
)");

extern "C" {
extern const char tffs_runtime_begin[];
extern const char tffs_runtime_end[];
}

namespace tffs {

// glibc knows the library by its SONAME from then on, and gives it to plugins that need it.
std::string RuntimeName() {
  // Where no descriptor of the plugin is expected.
  constexpr int kDescriptor = 230;
  const int file = memfd_create("libtensorflow_framework.so.2", MFD_CLOEXEC);
  const auto size = static_cast<size_t>(tffs_runtime_end - tffs_runtime_begin);
  if (file < 0 || write(file, tffs_runtime_begin, size) != static_cast<ssize_t>(size)) return "";
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, kDescriptor);
  close(file);
  return "/proc/self/fd/" + std::to_string(moved);
}

}  // namespace tffs
