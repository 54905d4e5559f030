// The runtime is a file that the dynamic loader finds: this program's RUNPATH is the folder it is
// in.
#include "runtime.h"

namespace tffs {

std::string RuntimeName() { return "libtensorflow_framework.so.2"; }

}  // namespace tffs
