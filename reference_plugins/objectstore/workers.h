// Threads that outlive the op which begins them.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_WORKERS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_WORKERS_H_

#include <pthread.h>

#include <csignal>
#include <system_error>

#include "failure.h"

namespace objectstore {

// Gives what `begin` gives, which begins a thread. No signal is delivered to that: handlers are the
// process's own affair. Throws Failure where there is no thread.
template <typename Begin>
auto Undisturbed(Begin begin) {
  struct Mask {
    Mask() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  };
  const Mask mask;
  try {
    return begin();
  } catch (const std::system_error&) {
    throw Failure(TF_RESOURCE_EXHAUSTED, "there are no more threads");
  }
}

// Who has such threads. A process may end while files are open: then they are stopped before the
// libraries end that they use, which were there first.
class Employer {
 public:
  // Ends the threads. There will be no others.
  virtual void Stop() = 0;

 protected:
  Employer() = default;
  ~Employer() = default;

  // It is stopped at the end of the process unless it leaves before.
  void Enter();
  void Leave();
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_WORKERS_H_
