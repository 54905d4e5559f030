// Allocations of the plugin that are counted, and one that fails.
#ifndef TFFS_HOST_ALLOCATIONS_H_
#define TFFS_HOST_ALLOCATIONS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace tffs {

// The functions of the plugin that were called, each by the command it was called for, and how much
// it allocated.
using Allocations = std::vector<std::pair<const char*, int64_t>>;

// From now on what this thread allocates in functions of the plugin is counted, and in the function
// that is called as number `call`, from 1 on, the allocation of this number fails. Nothing fails
// where `call` is 0, and nothing is counted any more where it is less. Gives what was counted since
// it was called last. Throws Lacking where the allocator cannot do that.
Allocations WatchAllocations(int64_t call, int64_t number);

// While it lives, allocations are counted, if anybody asked for that.
class Counted {
 public:
  Counted();
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace tffs

#endif  // TFFS_HOST_ALLOCATIONS_H_
