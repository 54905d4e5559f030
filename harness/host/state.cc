// The state of the process that a plugin may not leave changed behind.
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

#include "host.h"

namespace tffs {
namespace {

int64_t EntriesIn(const char* path) {
  DIR* directory = opendir(path);
  if (directory == nullptr) return -1;
  int64_t count = 0;
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

int64_t Lines(const char* path) {
  FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  int64_t count = 0;
  for (int character = std::getc(file); character != EOF; character = std::getc(file))
    count += character == '\n';
  std::fclose(file);
  return count;
}

// Bytes of memory that were asked of malloc, those it took for that, and all that are mapped.
struct Memory {
  size_t in_use;
  size_t of_malloc;
  size_t mapped;
};

// `struct mallinfo2` of glibc from 2.33 on, with `size_t`; what was there before counts in `int`.
template <typename Count>
struct Mallinfo {
  Count arena;
  Count ordblks;
  Count smblks;
  Count hblks;
  Count hblkhd;
  Count usmblks;
  Count fsmblks;
  Count uordblks;
  Count fordblks;
  Count keepcost;
};

Mallinfo<size_t> HeapNow() {
  if (void* counts = dlsym(RTLD_DEFAULT, "mallinfo2"))
    return reinterpret_cast<Mallinfo<size_t> (*)()>(counts)();
  Mallinfo<size_t> heap{};
  if (void* counts = dlsym(RTLD_DEFAULT, "mallinfo")) {
    const auto old = reinterpret_cast<Mallinfo<unsigned> (*)()>(counts)();
    heap.arena = old.arena;
    heap.hblkhd = old.hblkhd;
    heap.uordblks = old.uordblks;
  }
  return heap;
}

Memory MemoryNow() {
  size_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const Mallinfo<size_t> heap = HeapNow();
  // Large blocks have mappings of their own.
  return {heap.uordblks + heap.hblkhd, heap.arena + heap.hblkhd,
          pages * static_cast<size_t>(sysconf(_SC_PAGESIZE))};
}

std::string SignalHandlers() {
  std::string handlers;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0) {
      handlers += '-';
      continue;
    }
    const bool simple = (action.sa_flags & SA_SIGINFO) == 0;
    handlers += simple && action.sa_handler == SIG_DFL   ? 'd'
                : simple && action.sa_handler == SIG_IGN ? 'i'
                                                         : 'h';
  }
  return handlers;
}

}  // namespace

Reply Host::State(Request&) {
  char directory[PATH_MAX];
  const bool known = getcwd(directory, sizeof directory) != nullptr;
  const Memory memory = MemoryNow();
  return Reply("done")
      .Integer(EntriesIn("/proc/self/fd"))
      .Integer(EntriesIn("/proc/self/task"))
      .Integer(Lines("/proc/self/maps"))
      .Unsigned(memory.in_use)
      .Unsigned(memory.mapped - memory.of_malloc)
      .Bytes(known ? directory : "")
      .Bytes(SignalHandlers());
}

}  // namespace tffs
