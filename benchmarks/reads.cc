// Reads of a plugin against a plain pread loop over the same file: prints the median of the
// pairwise ratios of speed. Arguments: the plugin, its scheme's file path, bytes a read, reads a
// round, rounds.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

template <typename Read>
double Seconds(int reads, Read read) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < reads; ++k) read(k);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto size = static_cast<size_t>(std::atol(argv[3]));
  const int reads = std::atoi(argv[4]);
  const int rounds = std::atoi(argv[5]);
  TF_FilesystemPluginInfo info{};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem{};
  info.ops[0].filesystem_ops->init(&filesystem, status);
  TF_RandomAccessFile file{};
  info.ops[0].filesystem_ops->new_random_access_file(&filesystem, argv[2], &file, status);
  const int plain = open(argv[2], O_RDONLY | O_CLOEXEC);
  if (TF_GetCode(status) != TF_OK || plain < 0) return 1;
  std::vector<char> buffer(size);
  const auto through_plugin = [&](int k) {
    info.ops[0].random_access_file_ops->read(&file, static_cast<uint64_t>(k) * size, size,
                                             buffer.data(), status);
  };
  const auto through_pread = [&](int k) {
    if (pread(plain, buffer.data(), size, static_cast<off_t>(k) * static_cast<off_t>(size)) < 0)
      std::exit(1);
  };
  Seconds(reads, through_plugin);
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double plugin_seconds = Seconds(reads, through_plugin);
    ratios.push_back(Seconds(reads, through_pread) / plugin_seconds);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%.3f\n", ratios[ratios.size() / 2]);
  return 0;
}
