// What the plugin http of tensorflow-io 0.37.1 does against the interface. plugin.h says how this
// is built and run; the server has two files:
//
//   printf %04d $(seq 0 255) >file; truncate -s 2G large

#include <dirent.h>

#include <chrono>

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Read;
using reproduce::Status;

namespace {

int Descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  int count = -3;  // ".", ".." and this one
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

void Stat(const Plugin& http, const std::string& uri) {
  const auto started = std::chrono::steady_clock::now();
  TF_FileStatistics statistics = {};
  Status status;
  http.ops->stat(&http.filesystem, uri.c_str(), &statistics, status);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  status.Print("stat says length " + std::to_string(statistics.length) + " after " +
               std::to_string(took.count()) + " s");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Plugin http = reproduce::Load(argc, argv, "http");

  std::puts("1 a file that is missing is opened: 5, NOT_FOUND, is expected");
  Read(http, http / "missing", 0, 10);

  std::puts("2 a read inside the file: code 0 and 10 bytes from 0250 on are expected");
  Read(http, http / "file", 1000, 10);

  std::puts(
      "3 reads to the end and behind it: 11, OUT_OF_RANGE, with 24 bytes from 0250 on, and 0");
  Read(http, http / "file", 1000, 4096);
  Read(http, http / "file", 1024, 10);
  Read(http, http / "file", 1024, 4096);

  std::puts("4 stat asks with GET, and takes as long as the whole file");
  Stat(http, http / "file");
  Stat(http, http / "large");

  std::puts("5 an error of get_children: -1 is expected");
  Status status;
  char** entries = nullptr;
  const int count = http.ops->get_children(&http.filesystem, http.uri.c_str(), &entries, status);
  status.Print("get_children returned " + std::to_string(count));

  std::puts("6 descriptors: as many are expected each time");
  for (int k = 0; k < 3; ++k) {
    Read(http, http / "file", 0, 10);
    std::printf("  %d descriptors\n", Descriptors());
  }
  return 0;
}
