#include "interrupts.h"

#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>

namespace tffs {
namespace {

constexpr suseconds_t kPeriod = 500;  // microseconds

thread_local int64_t most = 0;
std::atomic<int64_t> left = 0;
std::atomic<int64_t> arrived = 0;
struct sigaction before;

// The other threads of the host block signals; those of a plugin should.
void Arm(suseconds_t period) {
  // The first one at once, for many ops take no longer.
  const itimerval timer = {{0, period}, {0, period > 0 ? 1 : 0}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void Count(int) {
  const int error = errno;
  ++arrived;
  if (--left <= 0) Arm(0);
  errno = error;
}

}  // namespace

int64_t InterruptOps(int64_t wanted) {
  const bool on = wanted > 0;
  if (on != (most > 0)) {
    struct sigaction counting = {};
    counting.sa_handler = Count;  // without SA_RESTART
    sigaction(SIGALRM, on ? &counting : &before, on ? &before : nullptr);
  }
  most = wanted;
  return arrived.exchange(0);
}

Interrupted::Interrupted() {
  if (most == 0) return;
  left = most;
  Arm(kPeriod);
}

Interrupted::~Interrupted() {
  if (most != 0) Arm(0);
}

}  // namespace tffs
