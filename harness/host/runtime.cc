#include "runtime.h"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>

#include "environment.h"
#include "tf_filesystem_plugin.h"

namespace tffs {
namespace {

// Names the libraries of another runtime, divided by colons, the one that has TF_NewStatus first.
constexpr char kGiven[] = "TFFS_RUNTIME";

void* library = nullptr;

// What the host calls itself.
struct {
  decltype(&TF_NewStatus) new_status;
  decltype(&TF_DeleteStatus) delete_status;
  decltype(&TF_SetStatus) set_status;
  decltype(&TF_GetCode) get_code;
  decltype(&TF_Message) message;
} functions;

[[noreturn]] void Fail() {
  const char* error = dlerror();
  EndForEnvironment(error != nullptr ? error : "the runtime cannot be opened");
}

void* Opened(const std::string& name) {
  void* opened = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) Fail();
  return opened;
}

template <typename Function>
void Find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) Fail();
}

}  // namespace

void OpenRuntime() {
  const char* given = std::getenv(kGiven);
  std::istringstream names(given != nullptr ? given : "");
  // The plugin finds the environment that it would find without.
  unsetenv(kGiven);
  for (std::string name; std::getline(names, name, ':');) {
    void* opened = Opened(name);
    if (library == nullptr) library = opened;
  }
  if (library == nullptr) library = Opened(RuntimeName());
  Find(functions.new_status, "TF_NewStatus");
  Find(functions.delete_status, "TF_DeleteStatus");
  Find(functions.set_status, "TF_SetStatus");
  Find(functions.get_code, "TF_GetCode");
  Find(functions.message, "TF_Message");
}

}  // namespace tffs

// The host's own calls; the plugin finds the functions of the runtime, for the host exports none.
TF_Status* TF_NewStatus(void) { return tffs::functions.new_status(); }
void TF_DeleteStatus(TF_Status* status) { tffs::functions.delete_status(status); }
void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  tffs::functions.set_status(status, code, message);
}
TF_Code TF_GetCode(const TF_Status* status) { return tffs::functions.get_code(status); }
const char* TF_Message(const TF_Status* status) { return tffs::functions.message(status); }
