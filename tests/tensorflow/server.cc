// In place of a server into which TensorFlow is linked: the functions that plugins call are in the
// program, and so is the part of registration that comes to init. Prints the schemes it has, what
// stat says of its arguments, and how many of their bytes it can read.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

struct Scheme {
  TF_FilesystemPluginOps entry;
  TF_Filesystem filesystem;
};

std::vector<Scheme>& Schemes() {
  static std::vector<Scheme> schemes;
  return schemes;
}

// How many bytes a file has, read to its end.
size_t Read(const Scheme& scheme, const char* path, TF_Status* status) {
  TF_RandomAccessFile file = {};
  scheme.entry.filesystem_ops->new_random_access_file(&scheme.filesystem, path, &file, status);
  size_t done = 0;
  if (TF_GetCode(status) != TF_OK) return done;
  const TF_RandomAccessFileOps* ops = scheme.entry.random_access_file_ops;
  char block[1024];
  while (TF_GetCode(status) == TF_OK) {
    const int64_t got = ops->read(&file, done, sizeof block, block, status);
    if (got > 0) done += static_cast<size_t>(got);
  }
  ops->cleanup(&file);
  return done;
}

void Stat(const std::string& uri) {
  TF_Status* status = TF_NewStatus();
  for (const Scheme& scheme : Schemes()) {
    if (uri.rfind(std::string(scheme.entry.scheme) + "://", 0) != 0) continue;
    const TF_FilesystemOps* ops = scheme.entry.filesystem_ops;
    char* path = ops->translate_name(&scheme.filesystem, uri.c_str());
    TF_FileStatistics stats = {};
    ops->stat(&scheme.filesystem, path, &stats, status);
    const int code = static_cast<int>(TF_GetCode(status));
    std::printf("%s: code %d, %lld bytes, %zu read\n", uri.c_str(), code,
                static_cast<long long>(stats.length), Read(scheme, path, status));
    std::free(path);
  }
  TF_DeleteStatus(status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_RegisterFilesystemPlugin(
    const char* path, TF_Status* status) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return TF_SetStatus(status, TF_NOT_FOUND, dlerror());
  TF_FilesystemPluginInfo info = {};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  for (size_t k = 0; k < info.num_schemes; ++k) {
    Scheme scheme = {info.ops[k], {}};
    scheme.entry.filesystem_ops->init(&scheme.filesystem, status);
    if (TF_GetCode(status) != TF_OK) return;
    Schemes().push_back(scheme);
  }
}

int main(int argc, char** argv) {
  for (const Scheme& scheme : Schemes()) std::printf("scheme %s\n", scheme.entry.scheme);
  for (int k = 1; k < argc; ++k) Stat(argv[k]);
}
