// A plugin in a process of its own, without a host: what the programs of the benchmarks call.

#ifndef TFFS_BENCHMARKS_PLUGIN_H_
#define TFFS_BENCHMARKS_PLUGIN_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tf_filesystem_plugin.h"

inline TF_FilesystemPluginInfo info;
inline TF_Filesystem filesystem;
inline thread_local TF_Status* status = TF_NewStatus();

// Ends the process if the last op of this thread failed.
inline void Check(const char* path) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s: %s\n", path, TF_Message(status));
  std::exit(1);
}

inline void Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  info.ops->filesystem_ops->init(&filesystem, status);
  Check(path);
}

#endif  // TFFS_BENCHMARKS_PLUGIN_H_
