// Libraries that a plugin loads by itself.
#include <dlfcn.h>

#include "tf_filesystem_plugin.h"

namespace {

void* Found(void* what, TF_Status* status) {
  const char* error = what == nullptr ? dlerror() : nullptr;
  if (what != nullptr) {
    TF_SetStatus(status, TF_OK, "");
  } else {
    TF_SetStatus(status, TF_NOT_FOUND, error != nullptr ? error : "the symbol is NULL");
  }
  return what;
}

}  // namespace

void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status) {
  return Found(dlopen(library_filename, RTLD_NOW | RTLD_LOCAL), status);
}

void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name, TF_Status* status) {
  return Found(dlsym(handle, symbol_name), status);
}
