// Times as HTTP and XML have them.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TIMES_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TIMES_H_

#include <cstdint>
#include <string>

namespace objectstore {

// In nanoseconds since the epoch; 0 where it is none.
int64_t TimeOf(const std::string& text);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TIMES_H_
