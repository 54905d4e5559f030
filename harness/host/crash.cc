#include "crash.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descendants.h"
#include "standard_output.h"

namespace tffs {
namespace {

constexpr struct {
  int number;
  const char* name;
} kSignals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}};
constexpr int kFrames = 32;
constexpr size_t kStack = 64 << 10;
// Seconds that a backtrace may take: where the crash is in the allocator it may wait for ever.
constexpr unsigned kPatience = 2;

// The signal that is reported.
volatile sig_atomic_t reported = 0;

// The thread that writes the report, 0 before there is one.
std::atomic<pid_t> reporter;

void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

// The op that is at fault: where threads perform ops, this one may only wait for them.
const char* Where(bool* another) {
  for (const auto& op : ops_of_threads) {
    if (strcmp(running_op, "threads") != 0) break;
    *another = op != nullptr;
    if (*another) return op;
  }
  return running_op;
}

// `the host <what> <name> in <op><end>`, in one piece: others may be about to say the same.
void SayInOp(const char* what, const char* name, const char* end) {
  bool another = false;
  const char* op = Where(&another);
  const char* const pieces[] = {
      "the host ", what, name, " in ", op, another ? " of another thread" : "", end};
  char line[256] = "";
  for (const char* piece : pieces) strncat(line, piece, sizeof line - strlen(line) - 1);
  Say(line);
}

void EndAsReported(int) {
  const int number = reported;
  signal(number, SIG_DFL);
  raise(number);
}

// Ends the process as the signal would have, where the report itself does not come back.
void LimitReport(int number) {
  reported = number;
  signal(SIGALRM, EndAsReported);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  alarm(kPatience);
}

void Report(int number) {
  pid_t nobody = 0;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  const bool first = reporter.compare_exchange_strong(nobody, self);
  // Several threads crash at the same time where they do the same; one speaks for all.
  while (!first && nobody != self) pause();
  signal(number, SIG_DFL);
  if (first) {
    const char* name = "";
    for (const auto& known : kSignals)
      if (known.number == number) name = known.name;
    SayInOp("got ", name, "; backtrace:\n");
    LimitReport(number);
    void* frames[kFrames];
    backtrace_symbols_fd(frames, backtrace(frames, kFrames), STDERR_FILENO);
    HandOnOutput();
    EndDescendants();
  }
  raise(number);
}

// Whether the memory is used from now on; sanitizers have a stack of their own.
bool UseStack(char* memory) {
  stack_t present;
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return false;
  const stack_t stack = {memory, 0, kStack};
  return sigaltstack(&stack, nullptr) == 0;
}

}  // namespace

void SayLast(const char* what) { SayInOp(what, "", "\n"); }

CrashStack::CrashStack() : memory_(new char[kStack]) {
  if (!UseStack(memory_.get())) memory_.reset();
}

CrashStack::~CrashStack() {
  const stack_t none = {nullptr, SS_DISABLE, 0};
  if (memory_ != nullptr) sigaltstack(&none, nullptr);
}

void ReportCrashes() {
  // A core file of every crash that a suite provokes helps nobody.
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // The first call loads libraries, which a handler must not do.
  void* frame;
  backtrace(&frame, 1);
  alignas(16) static char main_stack[kStack];
  UseStack(main_stack);
  for (const auto& [number, name] : kSignals) {
    struct sigaction present;
    sigaction(number, nullptr, &present);
    // Sanitizers have handlers of their own, which say more.
    if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = Report;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace tffs
