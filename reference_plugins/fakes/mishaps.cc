#include "mishaps.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fakes {
namespace {

// Hides from the compiler what a pointer points at: it would refuse, or remove, what is wrong on
// purpose.
template <typename T>
T* Opaque(T* pointer) {
  T* volatile hidden = pointer;
  return hidden;
}

void Say(int descriptor) {
  const std::string line = "the faulty plugin was here\n";
  if (write(descriptor, line.data(), line.size()) < 0) return;  // nobody listens: nothing to do
}

}  // namespace

void Crash() { *Opaque<volatile int>(nullptr) = 1; }

void Hang() {
  while (true) pause();
}

void HangWhenForked() {
  static const pid_t first = getpid();
  if (getpid() != first) Hang();
}

// As one does whose pool of a gigabyte is written twice.
void HangWhenFilled() {
  if (std::getenv("MALLOC_PERTURB_") != nullptr) Hang();
}

void HangWhenEnding() {
  static std::atomic<bool> ending = [] {
    std::atexit([] { ending = true; });
    return false;
  }();
  if (ending) Hang();
}

// Counts in what the end of the process takes away, as it does with objects of static storage.
void UseWhatIsGone() {
  static std::atomic<std::atomic<int>*> calls = [] {
    std::atexit([] { calls = nullptr; });
    return new std::atomic<int>(0);
  }();
  ++*calls.load();
}

void Exit() { std::exit(0); }

void Abort() { std::abort(); }

void Throw() { throw std::runtime_error("the fault is an exception"); }

void EndThread() { pthread_exit(nullptr); }

// Both processes return.
void ForkAndReturn() {
  if (fork() < 0) std::abort();
}

void CloseWire() {
  for (int number = 3; number < 1024; ++number) close(number);
}

void ReplaceWire() {
  const int nothing = open("/dev/null", O_RDWR);
  for (int number = 3; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) dup2(nothing, number);
  }
}

void WriteToWire() {
  for (int number = 3; number < 1024; ++number) Say(number);
}

void NeverWait() {
  for (int number = 3; number < 1024; ++number) {
    const int flags = fcntl(number, F_GETFL);
    if (flags >= 0) fcntl(number, F_SETFL, flags | O_NONBLOCK);
  }
}

void UseUpMemory() {
  for (size_t size = size_t{1} << 46; size >= 4096; size /= 2) {
    while (mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
           MAP_FAILED) {
    }
  }
}

void LeakMemory() {
  constexpr size_t kSize = size_t{1} << 20;
  std::memset(Opaque(std::malloc(kSize)), 1, kSize);
}

void LeakBytes() { Opaque(std::malloc(16)); }

void RecordCall() {
  static std::mutex mutex;
  static std::vector<std::array<char, 64>> calls;
  const std::lock_guard<std::mutex> lock(mutex);
  calls.emplace_back();
}

void LeakDescriptor() { Opaque(std::fopen("/dev/null", "re")); }

void LeakThread() { std::thread(Hang).detach(); }

void LeakMapping() { Opaque(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }

void FillCache() {
  static std::atomic<int> calls = 0;
  const int call = calls++;
  if (call < 200) Opaque(std::malloc(512));
  if (call < 60) LeakDescriptor();
  if (call < 60) LeakMapping();
}

void ChangeDirectory() {
  if (chdir("/") != 0) std::abort();
}

void ChangeSignals() {
  std::signal(SIGUSR1, [](int) {});
}

void BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void ChangeUmask() { umask(0); }

void ChangeLocale() {
  if (std::setlocale(LC_ALL, "C.UTF-8") == nullptr) std::abort();
}

void ChangeEnvironment() { setenv("TFFS_FAULTY_WAS_HERE", "1", 1); }

void ChangeRounding() { std::fesetround(FE_UPWARD); }

void LeaveChild() {
  if (fork() == 0) Hang();
}

// In a session of its own, and nobody's child.
void LeaveDaemon() {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) Hang();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void AbortAtExit() { std::atexit(std::abort); }

void CloseStreams() {
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
}

void PrintOut() { Say(STDOUT_FILENO); }

void PrintError() { Say(STDERR_FILENO); }

void UseFreed() {
  void* block = std::malloc(64);
  // volatile: the compiler would leave out a store that it thinks nobody sees.
  volatile char* again = static_cast<volatile char*>(Opaque(block));
  std::free(block);
  again[32] = 1;
}

void OverflowHeap() {
  void* block = std::malloc(61);
  static_cast<volatile char*>(Opaque(block))[61] = 1;
  std::free(block);
}

void FreeTwice() {
  void* block = std::malloc(64);
  void* again = Opaque(block);
  std::free(block);
  std::free(again);
}

void BranchOnGarbage() {
  char* block = Opaque(static_cast<char*>(std::malloc(64)));
  if (block[7] == 7) std::this_thread::yield();
  std::free(block);
}

// The byte is of the allocator's own, and nobody depends on it.
void ReadBehind() {
  void* block = std::malloc(61);
  static_cast<void>(static_cast<volatile char*>(Opaque(block))[61]);
  std::free(block);
}

void FreeOtherwise() { std::free(Opaque(new char[64])); }

void WriteGarbage() {
  char* block = Opaque(static_cast<char*>(std::malloc(64)));
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (write(nowhere, block, 64) < 0) block[0] = 0;
  close(nowhere);
  std::free(block);
}

void CopyOverlapping() {
  char text[] = "0123456789abcdef";
  char* (*volatile copy)(char*, const char*) = std::strcpy;
  copy(text, Opaque(text + 1));
}

void Race() {
  static volatile int calls = 0;
  calls = calls + 1;
}

}  // namespace fakes
