// A temporary file that has no name: it is gone when its last user is, however the process ends.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SPOOL_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SPOOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "readable.h"
#include "support/descriptor.h"

namespace objectstore {

// One thread may append while others read.
class Spool : public Readable {
 public:
  // Says whether something else gave way; gets why it has to.
  using MakeRoom = std::function<bool(const char* why)>;

  // In `directory`. Where there is no room `make_room` is asked for some, again and again. Throws
  // Failure.
  explicit Spool(const std::string& directory, MakeRoom make_room = nullptr);

  // Appends. Throws Failure, RESOURCE_EXHAUSTED where there is no room, and keeps the size that
  // was.
  void Append(const char* data, size_t n);

  size_t Read(uint64_t offset, size_t n, char* buffer) const override;

  // Forgets everything.
  void Clear();

  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }

 private:
  const MakeRoom make_room_;
  support::Descriptor descriptor_;
  std::atomic<uint64_t> size_{0};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SPOOL_H_
