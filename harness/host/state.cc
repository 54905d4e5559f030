// The state of the process that a plugin may not leave changed behind.
#include <dirent.h>
#include <malloc.h>
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

// Bytes that were allocated and not freed, large blocks, which have mappings of their own, among
// them.
size_t HeapInUse() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
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
  return Reply("done")
      .Integer(EntriesIn("/proc/self/fd"))
      .Integer(EntriesIn("/proc/self/task"))
      .Integer(Lines("/proc/self/maps"))
      .Unsigned(HeapInUse())
      .Bytes(known ? directory : "")
      .Bytes(SignalHandlers());
}

}  // namespace tffs
