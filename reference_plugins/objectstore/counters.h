// What the process did, in numbers: the op that hands them out is in counter_ops.cc. They are the
// one thing here that all filesystems of a process share, so that they can be read without one. A
// child of fork goes on from those of its parent.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "plugin.h"
#include "tf_filesystem_plugin.h"

namespace objectstore {

using Counter = std::atomic<uint64_t>;

struct Counters {
  Counter bytes_from_store{0};
  Counter bytes_from_cache{0};
  Counter requests_to_store{0};
  Counter retries{0};
  Counter evictions{0};
};

inline Counters& counters() {
  static Counters all;
  return all;
}

// A counter, as the op hands it out.
struct NamedCounter {
  const char* name;
  const char* description;
  const Counter* counter;
};

// All of those above.
std::vector<NamedCounter> NamedCounters();

// The op get_filesystem_configuration of a plugin that has these.
void HandOut(const Plugin& plugin, std::vector<NamedCounter> (*counters)(),
             TF_Filesystem_Option** options, int* num_options, TF_Status* status) noexcept;

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_COUNTERS_H_
