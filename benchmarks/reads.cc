// Reads of a plugin against the least that such a read can cost: prints the median of the pairwise
// ratios of speed. The file is written through the plugin, then read from front to back. Arguments:
// the plugin, a path as its ops get it, bytes of the file, bytes a read, rounds, and the yardstick:
// `pread`, of the file with this path, or `memcpy`, of as many bytes.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

template <typename Read>
double Seconds(size_t reads, Read read) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t k = 0; k < reads; ++k) read(k);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The median of the ratios of time, yardstick to plugin.
template <typename Plugin, typename Yardstick>
double Ratio(int rounds, size_t reads, Plugin plugin, Yardstick yardstick) {
  Seconds(reads, plugin);
  Seconds(reads, yardstick);
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double plugin_seconds = Seconds(reads, plugin);
    ratios.push_back(Seconds(reads, yardstick) / plugin_seconds);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const char* path = argv[2];
  const auto length = static_cast<size_t>(std::atol(argv[3]));
  const auto size = static_cast<size_t>(std::atol(argv[4]));
  const int rounds = std::atoi(argv[5]);
  const bool pread_is_yardstick = std::string(argv[6]) == "pread";

  TF_FilesystemPluginInfo info{};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  const TF_FilesystemPluginOps& ops = info.ops[0];
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem{};
  ops.filesystem_ops->init(&filesystem, status);
  const std::vector<char> content(length, 'x');
  TF_WritableFile written{};
  ops.filesystem_ops->new_writable_file(&filesystem, path, &written, status);
  if (TF_GetCode(status) != TF_OK) return 1;
  ops.writable_file_ops->append(&written, content.data(), length, status);
  ops.writable_file_ops->close(&written, status);
  TF_RandomAccessFile file{};
  ops.filesystem_ops->new_random_access_file(&filesystem, path, &file, status);
  if (TF_GetCode(status) != TF_OK) return 1;

  std::vector<char> buffer(size);
  const auto through_plugin = [&](size_t k) {
    const auto got = ops.random_access_file_ops->read(&file, k * size, size, buffer.data(), status);
    if (got != static_cast<int64_t>(size)) std::exit(1);
  };
  double ratio = 0;
  if (pread_is_yardstick) {
    const int plain = open(path, O_RDONLY | O_CLOEXEC);
    ratio = Ratio(rounds, length / size, through_plugin, [&](size_t k) {
      if (pread(plain, buffer.data(), size, static_cast<off_t>(k * size)) < 0) std::exit(1);
    });
  } else {
    ratio = Ratio(rounds, length / size, through_plugin, [&](size_t k) {
      std::memcpy(buffer.data(), content.data() + k * size, size);
      // The copy is wanted, although nobody looks at it.
      asm volatile("" : : "r"(buffer.data()) : "memory");
    });
  }
  std::printf("%.3f\n", ratio);
  return 0;
}
