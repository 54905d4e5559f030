// The runtime is a file in the folder of this program.
#include <unistd.h>

#include <climits>

#include "runtime.h"

namespace tffs {

std::string RuntimeName() {
  const std::string name = "libtensorflow_framework.so.2";
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length <= 0) return name;
  const std::string path(program, static_cast<size_t>(length));
  const std::string beside = path.substr(0, path.rfind('/') + 1) + name;
  // Before it is installed the runtime is elsewhere; there it is found by this program's RUNPATH,
  // which a sanitizer that wraps dlopen hides.
  return access(beside.c_str(), R_OK) == 0 ? beside : name;
}

}  // namespace tffs
