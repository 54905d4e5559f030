// What the store said of objects, remembered for a while by those who accept that it may be out of
// date (metadata_ttl_s).

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_METADATA_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_METADATA_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "checksum.h"
#include "s3.h"
#include "support/forks.h"

namespace objectstore {

// One version of an object.
struct Version {
  std::string etag;  // as the store gives it, in quotes
  uint64_t size = 0;
  int64_t mtime_nsec = 0;
  Checksum checksum;
};

// What a store says of one name: a version, or that there is no such object.
using Answer = std::optional<Version>;

class Metadata {
 public:
  // Remembers answers for so many seconds; with 0 none.
  explicit Metadata(double ttl) : ttl_(ttl) {}

  // The answer, or nothing where none is remembered.
  std::optional<Answer> Find(const Name& name);

  // How many changes there were: to be asked before a question is.
  uint64_t changes();

  // Remembers an answer, unless something changed since `changes` were counted.
  void Keep(const Name& name, const Answer& answer, uint64_t changes);

  void Forget(const Name& name);
  void Clear();

  // An object is changed by this process as long as this lives; whether it was, nobody may know.
  class Change {
   public:
    Change(Metadata& metadata, const Name& name) : metadata_(metadata), name_(name) {}
    ~Change() { metadata_.Forget(name_); }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    Metadata& metadata_;
    const Name& name_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  struct Kept {
    Answer answer;
    Clock::time_point until;
  };

  const std::chrono::duration<double> ttl_;
  std::mutex mutex_;  // guards all below
  uint64_t changes_ = 0;
  std::map<std::string, Kept> kept_;
  const support::ForkGuard forks_{mutex_, [] {}};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_METADATA_H_
