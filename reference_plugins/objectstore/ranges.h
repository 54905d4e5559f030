// An object of which only those parts are fetched that somebody reads.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RANGES_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RANGES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "cache.h"
#include "readable.h"

namespace objectstore {

class Ranges : public Readable {
 public:
  // Gives the bytes of the object from `first` on, `length` of them.
  using Fetch = std::function<Content(uint64_t first, uint64_t length)>;

  // `block` is how many bytes are fetched together: more than 0.
  Ranges(uint64_t size, uint64_t block, Fetch fetch)
      : size_(size), block_(block), fetch_(std::move(fetch)) {}

  // Throws what `fetch` throws.
  size_t Read(uint64_t offset, size_t n, char* buffer) const override;

 private:
  const uint64_t size_;
  const uint64_t block_;
  const Fetch fetch_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RANGES_H_
