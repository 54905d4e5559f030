// Several requests of one op at the same time. All threads end with the op.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PARALLEL_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

#include "patience.h"

namespace objectstore {

// Performs `action` in another thread, for the same op. The end of the future's life waits for its
// end. Where no thread can be had, it is performed when it is asked for.
template <typename Action>
auto Meanwhile(Action action) {
  return std::async(std::launch::async | std::launch::deferred,
                    [patience = Op::Current(), action = std::move(action)] {
                      const Op patient(patience);
                      return action();
                    });
}

// Performs `action(0)` to `action(count - 1)`, at most `most` at the same time, and comes back when
// all have ended. What one of them throws is thrown on, and no further ones are begun.
template <typename Action>
void ForEach(size_t count, size_t most, const Action& action) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    try {
      for (size_t k = next++; k < count; k = next++) action(k);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> others;
  for (size_t k = 1; k < std::min(count, most); ++k) others.push_back(Meanwhile(work));
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PARALLEL_H_
