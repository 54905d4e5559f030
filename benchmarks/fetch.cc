// What an op of a plugin takes: prints the seconds of each, one a line. Arguments: the plugin, what
// to do, and URIs. `read` opens each and reads it from front to back, `known` does so once it has
// asked about it, `first` reads the first MiB of each, `stat` and `list` ask about each, `write`
// writes the standard input to it. All URIs go to one filesystem, in their order. With a number
// behind it, as in `read8`, so many threads share the URIs but for the first, and the seconds are
// those of the first and those of all others together. The last line is the most memory that the
// process had, in KiB.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

constexpr size_t kPiece = 1 << 20;

TF_FilesystemPluginInfo info;
TF_Filesystem filesystem;
std::vector<TF_RandomAccessFile> opened;  // their end is not counted
thread_local TF_Status* status = TF_NewStatus();

void Check(const char* uri) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s: %s\n", uri, TF_Message(status));
  std::exit(1);
}

void Read(const char* path, bool all) {
  TF_RandomAccessFile file{};
  info.ops->filesystem_ops->new_random_access_file(&filesystem, path, &file, status);
  Check(path);
  thread_local std::vector<char> buffer(kPiece);
  for (uint64_t offset = 0;; offset += kPiece) {
    info.ops->random_access_file_ops->read(&file, offset, kPiece, buffer.data(), status);
    if (TF_GetCode(status) == TF_OUT_OF_RANGE) break;
    Check(path);
    if (!all) break;
  }
  if (!all) return opened.push_back(file);
  info.ops->random_access_file_ops->cleanup(&file);
}

void Write(const char* path) {
  TF_WritableFile file{};
  info.ops->filesystem_ops->new_writable_file(&filesystem, path, &file, status);
  Check(path);
  std::vector<char> buffer(kPiece);
  while (const size_t n = std::fread(buffer.data(), 1, kPiece, stdin)) {
    info.ops->writable_file_ops->append(&file, buffer.data(), n, status);
    Check(path);
  }
  info.ops->writable_file_ops->close(&file, status);
  Check(path);
  info.ops->writable_file_ops->cleanup(&file);
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

template <typename Work>
void Timed(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%.6f\n", took.count());
}

void Do(const std::string& what, const char* uri) {
  char* path = info.ops->filesystem_ops->translate_name(&filesystem, uri);
  if (what == "read" || what == "known" || what == "first") {
    Read(path, what != "first");
  } else if (what == "write") {
    Write(path);
  } else {
    what == "stat" ? Stat(path) : List(path);
  }
  info.plugin_memory_free(path);
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
  info.ops->filesystem_ops->init(&filesystem, status);
  Check(argv[1]);
  const std::string given = argv[2];
  const size_t digit = std::min(given.find_first_of("0123456789"), given.size());
  const std::string what = given.substr(0, digit);
  const int count = std::atoi(given.c_str() + digit);
  std::atomic<int> next{3};
  while (next < (count == 0 ? argc : 4)) {
    const char* uri = argv[next++];
    if (what == "known") Do("stat", uri);
    Timed([&] { Do(what, uri); });
  }
  if (count > 0) {
    Timed([&] {
      std::vector<std::thread> threads;
      for (int k = 0; k < count; ++k) {
        threads.emplace_back([&] {
          for (int mine = next++; mine < argc; mine = next++) Do(what, argv[mine]);
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
  }
  for (TF_RandomAccessFile& file : opened) info.ops->random_access_file_ops->cleanup(&file);
  std::ifstream facts("/proc/self/status");
  for (std::string line; std::getline(facts, line);) {
    if (line.rfind("VmHWM:", 0) == 0) std::printf("%d\n", std::atoi(line.c_str() + 6));
  }
  return 0;
}
