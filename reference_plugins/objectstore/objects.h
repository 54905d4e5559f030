// The objects of a store: what S3's API can do with them, one function a call.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OBJECTS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metadata.h"
#include "s3.h"
#include "spool.h"

namespace objectstore {

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

// The ETag of what was put. Throws Failure where the store does not say that anything was.
std::string NewETag(const Response& response);

// What a request says that copies `version`, and the ETag of what was copied, in a `document`.
Parameters CopyHeaders(const Name& source, const Version& version);
std::string CopiedETag(const Response& response, const char* document);

class Objects {
 public:
  // What is put in one request; what is larger comes in parts.
  static constexpr uint64_t kMostAtOnce = 64 << 20;

  // Both outlive it. What is larger than `copy_part_bytes` is copied in parts.
  Objects(const S3& s3, Metadata& metadata, uint64_t copy_part_bytes)
      : s3_(s3), metadata_(metadata), copy_part_bytes_(copy_part_bytes) {}

  // What the store says of the object now, and what it said not long ago, where that is remembered.
  // Throws Failure, as all of these do.
  Answer Head(const Name& name) const;
  std::optional<Answer> Recall(const Name& name) const { return metadata_.Find(name); }
  bool HasBucket(const std::string& bucket) const;

  // Puts the content of `file` there, of kMostAtOnce bytes at most, or nothing where `file` is
  // NULL; gives the new ETag. ABORTED where `condition` does not hold.
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
  Answer AskForHead(const Name& name) const;

  // What the store says of each of these keys, as ReadDeletions has it.
  std::map<std::string, std::string> DeleteTogether(const std::string& bucket,
                                                    const std::vector<std::string>& keys) const;

  // Gives what `put` gives, which puts an object under a condition and gives its ETag. Where the
  // answer was lost, `is_it` tells whether this is what it put.
  std::string Conditionally(const Name& name, const Condition& condition,
                            const std::function<std::string(const Parameters& headers)>& put,
                            const std::function<bool(const Version& there)>& is_it) const;

  friend class Multipart;

  const S3& s3_;
  Metadata& metadata_;
  const uint64_t copy_part_bytes_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_OBJECTS_H_
