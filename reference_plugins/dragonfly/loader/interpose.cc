// Where the loader sits: in front of dlopen, for processes that open TensorFlow, and in front of
// main, for programs that are linked to it.

#include <dlfcn.h>

#include "loader.h"
#include "plugins.h"
#include "search.h"

namespace {

// How many calls of dlopen the thread is in. Constructors of libraries open libraries, while the
// dynamic loader holds its lock; and a plugin is opened while plugins are registered.
thread_local int depth = 0;
// TensorFlow, opened by this thread, with its plugins still to be registered.
thread_local void* tensorflow = nullptr;

void Register(void* library) {
  ++depth;
  loader::RegisterOnce(library);
  --depth;
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

// All constructors of all libraries have run, TensorFlow's among them.
int MainWithPlugins(int argc, char** argv, char** environment) {
  TFFS_RegisterPlugins();
  return program_main(argc, argv, environment);
}

}  // namespace

#define TFFS_EXPORT extern "C" __attribute__((visibility("default")))

TFFS_EXPORT int TFFS_RegisterPlugins(void) {
  if (depth == 0 && loader::Registered() < 0 && loader::IsTensorFlow(RTLD_DEFAULT)) {
    Register(RTLD_DEFAULT);
  }
  return loader::Registered();
}

TFFS_EXPORT void* dlopen(const char* name, int flags) noexcept {
  ++depth;
  void* library = loader::OpenFor(__builtin_return_address(0), name, flags);
  --depth;
  // Its error is the caller's to read.
  if (library == nullptr || loader::Registered() >= 0) return library;
  // Only who opened TensorFlow waits for the plugins. Others must not: they may be threads that a
  // plugin waits for.
  if (loader::IsTensorFlow(library)) tensorflow = library;
  if (depth == 0 && tensorflow != nullptr) {
    Register(tensorflow);
    tensorflow = nullptr;
  }
  return library;
}

TFFS_EXPORT int __libc_start_main(Main program, int argc, char** argv, void (*init)(),
                                  void (*finish)(), void (*linker_finish)(), void* stack_end) {
  const auto next =
      reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  program_main = program;
  return next(MainWithPlugins, argc, argv, init, finish, linker_finish, stack_end);
}
