// How long an op goes on trying. All requests of one op share one budget of time, which begins with
// the first of them that fails.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PATIENCE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PATIENCE_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "plugin.h"

namespace objectstore {

// How one thread tells another that its op is not wanted any more.
class Recall {
 public:
  void Call();
  bool called() const;

  // Waits for so many seconds, or until it is called; gives called().
  bool WaitFor(double seconds) const;

 private:
  mutable std::mutex mutex_;  // guards called_
  mutable std::condition_variable changed_;
  bool called_ = false;
};

// The budget of one op, and who may call it back.
struct Patience {
  using Clock = std::chrono::steady_clock;

  const Recall* recall = nullptr;
  std::mutex mutex;  // guards what follows: several threads may work for one op
  Clock::time_point first_failure = Clock::time_point::max();
  Clock::time_point deadline = Clock::time_point::max();
};

// Lives as long as an op, in a thread. Of several, one in the other, the outermost counts: an op
// that is made of others has one budget, too.
class Op {
 public:
  // `recall`, where there is one, outlives it.
  explicit Op(const Recall* recall = nullptr);
  // For a thread that works for the op of another thread, which waits for it.
  explicit Op(Patience* of_other);
  ~Op();
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // The budget of the op that this thread performs; NULL where it performs none.
  static Patience* Current();

 private:
  Patience own_;
  Patience* const before_;
};

// The budget begins anew.
void RenewPatience();

// Whether the op that this thread performs, or works for, was recalled.
bool Recalled();

// When the budget ends: never, as long as nothing has failed.
Patience::Clock::time_point Deadline();

// Waits before try number `next` (1 is the second one), and gives true; or gives false at once,
// where the wait would end more than `budget` seconds after the op's first failure, or the op is
// recalled. The wait is anything up to a limit that doubles with each try, so that those who failed
// at the same moment do not meet again; but `at_least` seconds, which is what a server asked for.
// `why` is for the log of `plugin`.
bool Wait(const Plugin& plugin, int next, double budget, double at_least, const std::string& why);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PATIENCE_H_
