// What an op of a plugin takes: prints the seconds of each, one a line. Arguments: the plugin, what
// to do, and URIs. `read` opens each and reads it from front to back, `stat` and `list` ask about
// each. All URIs go to one filesystem, in their order.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

constexpr size_t kPiece = 1 << 20;

TF_FilesystemPluginInfo info;
TF_Filesystem filesystem;
TF_Status* status;

void Check(const char* uri) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s: %s\n", uri, TF_Message(status));
  std::exit(1);
}

void Read(const char* path) {
  TF_RandomAccessFile file{};
  info.ops->filesystem_ops->new_random_access_file(&filesystem, path, &file, status);
  Check(path);
  static std::vector<char> buffer(kPiece);
  for (uint64_t offset = 0;; offset += kPiece) {
    info.ops->random_access_file_ops->read(&file, offset, kPiece, buffer.data(), status);
    if (TF_GetCode(status) == TF_OUT_OF_RANGE) break;
    Check(path);
  }
  info.ops->random_access_file_ops->cleanup(&file);
}

void Stat(const char* path) {
  TF_FileStatistics statistics{};
  info.ops->filesystem_ops->stat(&filesystem, path, &statistics, status);
  Check(path);
}

void List(const char* path) {
  char** entries = nullptr;
  const int count = info.ops->filesystem_ops->get_children(&filesystem, path, &entries, status);
  Check(path);
  for (int k = 0; k < count; ++k) info.plugin_memory_free(entries[k]);
  info.plugin_memory_free(entries);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  status = TF_NewStatus();
  info.ops->filesystem_ops->init(&filesystem, status);
  Check(argv[1]);
  const std::string what = argv[2];
  for (int k = 3; k < argc; ++k) {
    char* path = info.ops->filesystem_ops->translate_name(&filesystem, argv[k]);
    const auto start = std::chrono::steady_clock::now();
    what == "read" ? Read(path) : what == "stat" ? Stat(path) : List(path);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.6f\n", took.count());
    info.plugin_memory_free(path);
  }
  return 0;
}
