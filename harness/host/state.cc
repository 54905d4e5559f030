// The state of the process that a plugin may not leave changed behind.
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <climits>
#include <clocale>
#include <cstdio>
#include <sstream>
#include <string>

#include "descendants.h"
#include "host.h"
#include "standard_output.h"

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

// The same with what stands behind each letter: it differs from process to process.
std::string SignalActions() {
  std::string actions;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0) {
      std::ostringstream text;
      text << std::hex << reinterpret_cast<uintptr_t>(action.sa_sigaction) << '/'
           << action.sa_flags;
      for (int other = 1; other < NSIG; ++other)
        if (sigismember(&action.sa_mask, other) == 1) text << '/' << other;
      actions += text.str();
    }
    actions += ' ';
  }
  return actions;
}

// One character a signal: whether this thread blocks it.
std::string BlockedSignals() {
  sigset_t set;
  pthread_sigmask(SIG_SETMASK, nullptr, &set);
  std::string blocked;
  for (int number = 1; number < NSIG; ++number)
    blocked += sigismember(&set, number) == 1 ? 'b' : '-';
  return blocked;
}

// -1 where the kernel does not tell. To ask the C library would change it for a moment.
int64_t Umask() {
  FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return -1;
  unsigned mask = 0;
  char line[256];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file) != nullptr)
    found = std::sscanf(line, "Umask: %o", &mask) == 1;
  std::fclose(file);
  return found ? static_cast<int64_t>(mask) : -1;
}

// Rounding, traps, and what becomes of numbers that are too small; not what happened so far.
int64_t FloatingPoint() {
#if defined(__x86_64__)
  constexpr unsigned kControl = 0xffc0;
  return __builtin_ia32_stmxcsr() & kControl;
#else
  return std::fegetround();
#endif
}

// What the first three descriptors are.
std::string Streams() {
  std::string streams;
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    struct stat facts;
    streams += fstat(number, &facts) != 0
                   ? "closed "
                   : std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino) + " ";
  }
  return streams;
}

}  // namespace

Reply StateNow() {
  char directory[PATH_MAX];
  const bool known = getcwd(directory, sizeof directory) != nullptr;
  const char* locale = std::setlocale(LC_ALL, nullptr);
  const int64_t printed = PrintedBytes();
  const Memory memory = MemoryNow();
  Reply reply("done");
  reply.Integer(EntriesIn("/proc/self/fd"))
      .Integer(EntriesIn("/proc/self/task"))
      .Integer(Lines("/proc/self/maps"))
      .Unsigned(memory.in_use)
      .Unsigned(memory.mapped - memory.of_malloc)
      .Integer(Children())
      .Integer(printed)
      .Integer(Umask())
      .Integer(FloatingPoint())
      .Bytes(known ? directory : "")
      .Bytes(SignalHandlers())
      .Bytes(SignalActions())
      .Bytes(BlockedSignals())
      .Bytes(locale != nullptr ? locale : "")
      .Bytes(Streams());
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    reply.Bytes(*variable);
  return reply;
}

Reply Host::State(Request& request) {
  const bool before = !request.AtEnd() && request.TakeInteger() != 0;
  return before ? before_load_ : StateNow();
}

}  // namespace tffs
