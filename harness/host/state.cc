// The state of the process that a plugin may not leave changed behind.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

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

// What `taken` is called with, piece by piece, is all that is in a file; false where it cannot be
// opened. This is done at each start of a host, so it is done without stdio.
template <typename Taken>
bool ReadFile(const char* path, Taken taken) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char piece[4096];
  for (ssize_t got; (got = read(file, piece, sizeof piece)) > 0;)
    taken(std::string_view(piece, static_cast<size_t>(got)));
  close(file);
  return true;
}

int64_t Lines(const char* path) {
  int64_t count = 0;
  const bool known = ReadFile(
      path, [&](std::string_view piece) { count += std::count(piece.begin(), piece.end(), '\n'); });
  return known ? count : -1;
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
  std::string pages;
  ReadFile("/proc/self/statm", [&](std::string_view piece) { pages += piece; });
  const Mallinfo<size_t> heap = HeapNow();
  // Large blocks have mappings of their own.
  return {heap.uordblks + heap.hblkhd, heap.arena + heap.hblkhd,
          std::strtoul(pages.c_str(), nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE))};
}

// What is done at each signal: a letter, and a word with what stands behind it, which differs from
// process to process.
struct Signals {
  std::string handlers;
  std::string actions;
};

Signals SignalsNow() {
  Signals signals;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0) {
      signals.handlers += '-';
      signals.actions += ' ';
      continue;
    }
    const bool simple = (action.sa_flags & SA_SIGINFO) == 0;
    signals.handlers += simple && action.sa_handler == SIG_DFL   ? 'd'
                        : simple && action.sa_handler == SIG_IGN ? 'i'
                                                                 : 'h';
    char text[64];
    std::snprintf(text, sizeof text, "%jx/%x",
                  static_cast<uintmax_t>(reinterpret_cast<uintptr_t>(action.sa_sigaction)),
                  static_cast<unsigned>(action.sa_flags));
    signals.actions += text;
    if (sigisemptyset(&action.sa_mask) == 0)
      for (int other = 1; other < NSIG; ++other)
        if (sigismember(&action.sa_mask, other) == 1)
          signals.actions.append("/").append(std::to_string(other));
    signals.actions += ' ';
  }
  return signals;
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
  std::string status;
  ReadFile("/proc/self/status", [&](std::string_view piece) { status += piece; });
  static constexpr std::string_view kLabel = "\nUmask:";
  const size_t at = status.find(kLabel);
  return at == std::string::npos ? -1
                                 : std::strtol(status.c_str() + at + kLabel.size(), nullptr, 8);
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

// Empty where it is not known.
std::string WorkingDirectory() {
  char directory[PATH_MAX];
  return getcwd(directory, sizeof directory) != nullptr ? directory : "";
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

bool DirectoryMoved() {
  static UnseenLock guard;
  static auto* last = new std::string;  // threads may still ask when the process ends
  std::string now = WorkingDirectory();
  const std::lock_guard lock(guard);
  if (now == *last) return false;
  *last = std::move(now);
  return true;
}

Reply StateNow() {
  const char* locale = std::setlocale(LC_ALL, nullptr);
  const int64_t printed = PrintedBytes();
  const Memory memory = MemoryNow();
  const Signals signals = SignalsNow();
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
      .Bytes(WorkingDirectory())
      .Bytes(signals.handlers)
      .Bytes(signals.actions)
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
