// The library that gives the plugin its TF_* symbols.
#ifndef TFFS_HOST_RUNTIME_H_
#define TFFS_HOST_RUNTIME_H_

#include <string>

namespace tffs {

// Opens the runtime for all that is loaded later, and finds the functions that the host itself
// calls. TFFS_RUNTIME in the environment names another one than the stand-in: TensorFlow's own.
// Ends the process where that cannot be done.
void OpenRuntime();

// A name that dlopen takes for the runtime: `runtime_beside.cc` or `runtime_inside.cc` has it.
std::string RuntimeName();

}  // namespace tffs

#endif  // TFFS_HOST_RUNTIME_H_
