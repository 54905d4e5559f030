// Signals that interrupt the calls of the plugin, as an alarm or a profiler does.
#ifndef TFFS_HOST_INTERRUPTS_H_
#define TFFS_HOST_INTERRUPTS_H_

#include <cstdint>

namespace tffs {

// From now on a SIGALRM arrives again and again while the plugin performs an op in this thread, at
// most so many in each: however slow the machine is, they end. 0 for none any more. Gives how many
// arrived since it was called last.
int64_t InterruptOps(int64_t most);

// While it lives, signals arrive, if anybody asked for them.
class Interrupted {
 public:
  Interrupted();
  ~Interrupted();
  Interrupted(const Interrupted&) = delete;
  Interrupted& operator=(const Interrupted&) = delete;
};

}  // namespace tffs

#endif  // TFFS_HOST_INTERRUPTS_H_
