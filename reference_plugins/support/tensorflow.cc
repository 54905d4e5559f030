// The functions of TensorFlow that the plugins call, found in the process that loads them.
//
// A plugin that names libtensorflow_framework.so.2 does not load in a server that has TensorFlow
// linked into it, and one that names nothing does not load in TensorFlow's Python before 2.19,
// where its symbols are in no global scope. A plugin with these functions loads in both.

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "tf_filesystem_plugin.h"

namespace {

// `name` of the global scope, or of the library that TensorFlow's Python has loaded, or NULL.
void* Look(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

// The same of what has to be there: without it there is nobody whom a plugin could answer.
void* Find(const char* name) {
  if (void* found = Look(name)) return found;
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

// TensorFlow has none from 2.21 on. Its users find such lines on standard error then, as far as
// TF_CPP_MIN_LOG_LEVEL lets them through.
void TF_Log(TF_LogLevel level, const char* format, ...) {
  static const auto found = reinterpret_cast<decltype(&TF_Log)>(Look("TF_Log"));
  static const char* const least = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (found != nullptr) return found(level, "%s", text);
  if (least != nullptr && level < std::atoi(least)) return;
  std::fprintf(stderr, "%c %s\n", "IWEF"[level], text);
}
