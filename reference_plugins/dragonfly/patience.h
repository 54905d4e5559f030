// How long an op goes on trying. All requests of one op share one budget of time, which begins with
// the first of them that fails.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_PATIENCE_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_PATIENCE_H_

#include <condition_variable>
#include <mutex>

namespace dragonfly {

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

// Lives as long as an op. Of several, one in the other, the outermost counts: an op that is made of
// others has one budget, too.
class Op {
 public:
  // `recall`, where there is one, outlives it.
  explicit Op(const Recall* recall = nullptr);
  ~Op();
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
};

// The budget begins anew.
void RenewPatience();

// Whether the op that this thread performs was recalled.
bool Recalled();

// Waits before try number `next` (1 is the second one), and gives true; or gives false at once,
// where the wait would end more than `budget` seconds after the op's first failure, or the op is
// recalled. The wait is anything up to a limit that doubles with each try, so that those who failed
// at the same moment do not meet again; but `at_least` seconds, which is what a server asked for.
bool Wait(int next, double budget, double at_least);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_PATIENCE_H_
