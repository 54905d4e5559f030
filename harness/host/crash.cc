#include "crash.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tffs {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
constexpr int kFrames = 32;

// Room for the handler where the plugin has used up its stack.
alignas(16) char alternate_stack[64 << 10];

void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

void Report(int number) {
  Say("the host got SIG");
  Say(sigabbrev_np(number));
  Say(" in ");
  Say(running_op);
  Say("; backtrace:\n");
  void* frames[kFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kFrames), STDERR_FILENO);
  // SA_RESETHAND brought the default action back.
  raise(number);
}

}  // namespace

void ReportCrashes() {
  // A core file of every crash that a suite provokes helps nobody.
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // The first call loads libraries, which a handler must not do.
  void* frame;
  backtrace(&frame, 1);
  const stack_t stack = {alternate_stack, 0, sizeof alternate_stack};
  sigaltstack(&stack, nullptr);
  for (const int number : kSignals) {
    struct sigaction present;
    sigaction(number, nullptr, &present);
    // Sanitizers have handlers of their own, which say more.
    if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = Report;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace tffs
