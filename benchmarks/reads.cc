// How fast a plugin reads. Arguments: the plugin, and one of
//
//   read URI...                          Reads each URI to its end. Prints the seconds of the last.
//   pread|memcpy PATH BYTES SIZE ROUNDS  Writes a file of BYTES through the plugin and reads it in
//                                        pieces of SIZE. Prints the median ratio of speed, plugin
//                                        to a loop of pread on PATH, or of memcpy of as many bytes.
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

TF_FilesystemPluginInfo info;
TF_Filesystem filesystem;
TF_Status* status = TF_NewStatus();

// Ends the process if the last op failed.
void Check(const char* path) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s: %s\n", path, TF_Message(status));
  std::exit(1);
}

void Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  info.ops->filesystem_ops->init(&filesystem, status);
  Check(path);
}

template <typename Work>
double Seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void ReadToEnd(const char* uri) {
  constexpr size_t kPiece = 1 << 20;
  static std::vector<char> buffer(kPiece);
  char* path = info.ops->filesystem_ops->translate_name(&filesystem, uri);
  TF_RandomAccessFile file{};
  info.ops->filesystem_ops->new_random_access_file(&filesystem, path, &file, status);
  Check(uri);
  for (uint64_t offset = 0; TF_GetCode(status) != TF_OUT_OF_RANGE; offset += kPiece) {
    info.ops->random_access_file_ops->read(&file, offset, kPiece, buffer.data(), status);
    if (TF_GetCode(status) != TF_OUT_OF_RANGE) Check(uri);
  }
  info.ops->random_access_file_ops->cleanup(&file);
  info.plugin_memory_free(path);
}

template <typename Plugin, typename Yardstick>
void PrintRatio(size_t reads, int rounds, Plugin plugin, Yardstick yardstick) {
  const auto seconds = [reads](auto read) {
    return Seconds([&] {
      for (size_t k = 0; k < reads; ++k) read(k);
    });
  };
  seconds(plugin);
  seconds(yardstick);
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double plugin_seconds = seconds(plugin);
    ratios.push_back(seconds(yardstick) / plugin_seconds);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%.3f\n", ratios[ratios.size() / 2]);
}

void Compare(const std::string& yardstick, const char* path, size_t length, size_t size,
             int rounds) {
  const std::vector<char> content(length, 'x');
  TF_WritableFile written{};
  info.ops->filesystem_ops->new_writable_file(&filesystem, path, &written, status);
  Check(path);
  info.ops->writable_file_ops->append(&written, content.data(), length, status);
  Check(path);
  info.ops->writable_file_ops->close(&written, status);
  TF_RandomAccessFile file{};
  info.ops->filesystem_ops->new_random_access_file(&filesystem, path, &file, status);
  Check(path);
  std::vector<char> buffer(size);
  const auto through_plugin = [&](size_t k) {
    const auto got =
        info.ops->random_access_file_ops->read(&file, k * size, size, buffer.data(), status);
    if (got != static_cast<int64_t>(size)) std::exit(1);
  };
  if (yardstick == "pread") {
    const int plain = open(path, O_RDONLY | O_CLOEXEC);
    PrintRatio(length / size, rounds, through_plugin, [&](size_t k) {
      if (pread(plain, buffer.data(), size, static_cast<off_t>(k * size)) < 0) std::exit(1);
    });
  } else {
    PrintRatio(length / size, rounds, through_plugin, [&](size_t k) {
      std::memcpy(buffer.data(), content.data() + k * size, size);
      // The compiler must not leave the copy out.
      asm volatile("" : : "r"(buffer.data()) : "memory");
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Load(argv[1]);
  const std::string what = argv[2];
  if (what == "read") {
    double seconds = 0;
    for (int k = 3; k < argc; ++k) seconds = Seconds([&] { ReadToEnd(argv[k]); });
    std::printf("%.6f\n", seconds);
  } else {
    if (argc != 7) return 2;
    Compare(what, argv[3], std::stoul(argv[4]), std::stoul(argv[5]), std::atoi(argv[6]));
  }
  return 0;
}
