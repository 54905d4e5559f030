// The objects of a store: what S3's API can do with them, one function a call.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_OBJECTS_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checksum.h"
#include "s3.h"
#include "spool.h"

namespace dragonfly {

// One version of an object.
struct Version {
  std::string etag;  // as the store gives it, in quotes
  uint64_t size = 0;
  int64_t mtime_nsec = 0;
  Checksum checksum;
};

// A part of a listing.
struct Page {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;  // what the delimiter cut off, with their slash
  int64_t first_mtime_nsec = 0;       // of the first key
  std::string next;                   // the token of the page that follows; empty: none
};

struct Range {
  std::string prefix;
  bool one_level = false;  // cut keys behind the next slash
  int most = 1000;
  std::string token;
};

// When a Put may take place.
struct Condition {
  bool only_if_missing = false;
  std::string only_if_etag;
};

class Objects {
 public:
  explicit Objects(const S3& s3) : s3_(s3) {}

  // Nothing where there is no such object. Throws Failure, as all of these do.
  std::optional<Version> Head(const Name& name) const;
  bool HasBucket(const std::string& bucket) const;

  // Puts the content of `file` there, in parts where it is large, or nothing where `file` is NULL;
  // gives the new ETag. ABORTED where `condition` does not hold.
  std::string Put(const Name& name, const Spool* file, const Condition& condition = {}) const;

  // A key that is not there is deleted, too. Of an object with another ETag than `only_if_etag`,
  // where there is one: ABORTED, as far as the store knows conditions of a DELETE.
  void Delete(const Name& name, const std::string& only_if_etag = "") const;

  // Gives the keys that are still there as far as the store says, each with the reason.
  std::vector<std::pair<std::string, Failure>> DeleteAll(
      const std::string& bucket, const std::vector<std::string>& keys) const;

  // `version` is what the source is; where it is something else by now: ABORTED. When it comes back
  // the store has said that the whole target is there.
  void Copy(const Name& source, const Version& version, const Name& target) const;

  // One page of a listing: keys and prefixes that all begin with the prefix that was asked for.
  Page List(const std::string& bucket, const Range& range) const;

 private:
  // What Put does, but for what comes of an answer that is lost.
  std::string Send(const Name& name, const Spool* file, const Condition& condition) const;

  // What the store says of each of these keys, as ReadDeletions has it.
  std::map<std::string, std::string> DeleteTogether(const std::string& bucket,
                                                    const std::vector<std::string>& keys) const;

  // The parts of one upload: `send` sends the number it gets, `count` in all.
  std::string InParts(
      const Name& name, int count, const Parameters& conditions,
      const std::function<std::string(int number, const Parameters& query)>& send) const;

  const S3& s3_;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_OBJECTS_H_
