// Last words of a process that a signal ends.
#ifndef TFFS_HOST_CRASH_H_
#define TFFS_HOST_CRASH_H_

#include <atomic>
#include <cstddef>
#include <memory>

namespace tffs {

// What this thread is about, for the line that a crash prints; a text that stays.
inline thread_local const char* running_op = "";

// The ops that the threads of a program perform, nullptr where one waits. Who ends a process that
// hangs reaches the main thread, which waits for them.
constexpr size_t kMostThreads = 64;
inline std::atomic<const char*> ops_of_threads[kMostThreads];

// Writes to standard error what became of the host, and in which op: `the host <what> in <op>`. May
// be called where a signal is handled.
void SayLast(const char* what);

// Fatal signals write a backtrace to standard error before they end the process as they would have.
void ReportCrashes();

// Room for the last words of a thread that has used up its stack, as long as this lives in it.
// `ReportCrashes` sees to the main thread.
class CrashStack {
 public:
  CrashStack();
  ~CrashStack();
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace tffs

#endif  // TFFS_HOST_CRASH_H_
