// Content on its way into a spool: no more of it than the object has, and added up as it comes.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_SINK_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_SINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "checksum.h"
#include "spool.h"

namespace dragonfly {

class Sink {
 public:
  // Fills `spool`, which outlives it, with `length` bytes that add up to `checksum`.
  Sink(Spool* spool, uint64_t length, Checksum checksum);

  // Forgets what came so far.
  void Clear();

  // Takes more, and says whether it did: false where that is more than the object has. Throws
  // Failure where the spool is full.
  bool Take(const char* data, size_t n);

  // What is wrong with what came, or NULL. Asked once, when all of it is there.
  const char* Fault();

 private:
  Spool* const spool_;
  const uint64_t length_;
  const Checksum checksum_;
  Adder adder_;
  bool too_long_ = false;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_SINK_H_
