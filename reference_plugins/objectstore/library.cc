#include "library.h"

#include <dlfcn.h>

#include <string>

#include "failure.h"

namespace objectstore {
namespace {

// Sanitizers replace malloc and others for the whole process, and refuse libraries that look into
// their own scope first.
bool Sanitized() {
  for (const char* mark : {"__asan_init", "__tsan_init", "__msan_init"}) {
    if (dlsym(RTLD_DEFAULT, mark) != nullptr) return true;
  }
  return false;
}

}  // namespace

Library::Library(const char* soname) : soname_(soname) {
  handle_ = dlopen(soname, RTLD_NOW | RTLD_LOCAL | (Sanitized() ? 0 : RTLD_DEEPBIND));
  if (handle_ == nullptr) {
    throw Failure(TF_FAILED_PRECONDITION, std::string(soname) + " cannot be loaded");
  }
}

void* Library::Symbol(const char* name) const {
  void* symbol = dlsym(handle_, name);
  if (symbol == nullptr) {
    throw Failure(TF_FAILED_PRECONDITION, std::string(soname_) + " has no " + name);
  }
  return symbol;
}

}  // namespace objectstore
