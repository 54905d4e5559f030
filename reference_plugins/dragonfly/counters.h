// What the process did through Dragonfly, in numbers, beside those of objectstore/counters.h.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_COUNTERS_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_COUNTERS_H_

#include "objectstore/counters.h"

namespace dragonfly {

struct Counters {
  objectstore::Counter bytes_from_p2p{0};
  objectstore::Counter requests_to_dfdaemon{0};
  objectstore::Counter fallbacks{0};
};

inline Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_COUNTERS_H_
