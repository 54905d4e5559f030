// What the process did, in numbers: counter_ops.cc hands them out. They are the one thing here that
// all filesystems of a process share, so that they can be read without one. A child of fork goes on
// from those of its parent.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace dragonfly {

struct Counters {
  using Counter = std::atomic<uint64_t>;

  Counter bytes_from_p2p{0};
  Counter bytes_from_store{0};
  Counter bytes_from_cache{0};
  Counter requests_to_dfdaemon{0};
  Counter requests_to_store{0};
  Counter retries{0};
  Counter fallbacks{0};
  Counter evictions{0};
};

inline Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_
