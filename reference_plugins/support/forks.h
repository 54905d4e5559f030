// Processes that fork. A child has a copy of everything but the threads: a lock that another thread
// held is never released there, and what another thread began never ends.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_FORKS_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_FORKS_H_

#include <functional>
#include <mutex>

namespace support {

// A member of what is shared by threads, behind all that `mutex` guards. A fork waits for the
// mutex, so that the child finds everything whole; there `in_child` is called, which must not
// throw, and then the mutex is free. The mutexes of guards that were made later are taken first: so
// does a thread that holds two. No guard is made or gone under such a mutex.
class ForkGuard {
 public:
  ForkGuard(std::mutex& mutex, std::function<void()> in_child);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  static void Before();
  static void InParent();
  static void InChild();

  std::mutex& mutex_;
  const std::function<void()> in_child_;
  ForkGuard* next_ = nullptr;  // of all there are
};

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_FORKS_H_
