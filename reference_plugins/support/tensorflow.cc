// The functions of TensorFlow that the plugins call, found in the process that loads them.
//
// A plugin that names libtensorflow_framework.so.2 does not load in a server that has TensorFlow
// linked into it, and one that names nothing does not load in TensorFlow's Python before 2.19,
// where its symbols are in no global scope. A plugin with these functions loads in both.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tf_filesystem_plugin.h"

namespace {

// `name` of the global scope, or of the library that TensorFlow's Python has loaded. Without it
// there is nobody whom a plugin could answer.
void* Find(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (void* found = library == nullptr ? nullptr : dlsym(library, name)) return found;
  std::fprintf(stderr, "%s: no TensorFlow in this process has it\n", name);
  std::abort();
}

template <typename Function>
Function* Found(const char* name, Function*) {
  return reinterpret_cast<Function*>(Find(name));
}

}  // namespace

TF_Status* TF_NewStatus() {
  static const auto found = Found("TF_NewStatus", TF_NewStatus);
  return found();
}

void TF_DeleteStatus(TF_Status* status) {
  static const auto found = Found("TF_DeleteStatus", TF_DeleteStatus);
  found(status);
}

void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  static const auto found = Found("TF_SetStatus", TF_SetStatus);
  found(status, code, message);
}

void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context) {
  static const auto found = Found("TF_SetStatusFromIOError", TF_SetStatusFromIOError);
  found(status, error_code, context);
}

TF_Code TF_GetCode(const TF_Status* status) {
  static const auto found = Found("TF_GetCode", TF_GetCode);
  return found(status);
}

const char* TF_Message(const TF_Status* status) {
  static const auto found = Found("TF_Message", TF_Message);
  return found(status);
}
