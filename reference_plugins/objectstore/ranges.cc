#include "ranges.h"

#include <algorithm>

namespace objectstore {

size_t Ranges::Read(uint64_t offset, size_t n, char* buffer) const {
  if (offset >= size_) return 0;
  n = static_cast<size_t>(std::min<uint64_t>(n, size_ - offset));
  size_t done = 0;
  while (done < n) {
    const uint64_t within = (offset + done) % block_;
    const uint64_t first = offset + done - within;
    const Content block = fetch_(first, std::min(block_, size_ - first));
    done += block->Read(within, n - done, buffer + done);
  }
  return n;
}

}  // namespace objectstore
