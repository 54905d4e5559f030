// Bytes that may be read from any position, by many threads at once.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_READABLE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_READABLE_H_

#include <cstddef>
#include <cstdint>

namespace objectstore {

class Readable {
 public:
  virtual ~Readable() = default;

  // At most `n` bytes from `offset` on; fewer only at the end. Throws Failure.
  virtual size_t Read(uint64_t offset, size_t n, char* buffer) const = 0;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_READABLE_H_
