// An object that goes up while it is written. What fits into one request waits in a temporary file
// until it is put. Of what is larger the parts go up as they are full, and no more than three of
// them are in temporary files, of 64 MiB each up to 93 GiB.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OUTGOING_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OUTGOING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filesystem.h"
#include "multipart.h"

namespace objectstore {

// One thread uses it; a child of fork neither uses nor destroys it. After an Append that throws
// Failure it is of no use, nor after a Put that throws when parts go up.
class Outgoing {
 public:
  // `filesystem` outlives it.
  Outgoing(Filesystem& filesystem, Name name);

  // What is appended goes behind this version, which the store copies where it is large.
  void GoOnBehind(const Version& version);

  void Append(const char* data, size_t n);
  uint64_t size() const { return before_ + part_->file->size(); }

  // Whether parts went up that are put nowhere yet. The end of its life breaks that off.
  bool has_begun() const { return parts_ != nullptr; }
  void BreakOff() { parts_.reset(); }

  // Puts the object as it is now, and gives its ETag.
  std::string Put(const Condition& condition);

 private:
  // The part that grows.
  struct Part {
    std::shared_ptr<Spool> file;
    std::vector<std::shared_ptr<void>> room;  // in the cache, a MiB each
  };

  void Begin();
  void SendPart();
  void NewPart();

  Filesystem& filesystem_;
  const Name name_;
  std::optional<Version> base_;  // what is put already, and in no part
  uint64_t before_ = 0;          // the bytes in front of the part
  std::shared_ptr<Part> part_;
  std::unique_ptr<Multipart> parts_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OUTGOING_H_
