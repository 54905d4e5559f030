// What the bytes of an object add up to, as its store says: how altered bytes are found out.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CHECKSUM_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CHECKSUM_H_

#include <cstddef>
#include <string>
#include <variant>

#include "crc.h"
#include "digest.h"
#include "http.h"
#include "spool.h"

namespace objectstore {

enum class Sum { kNone, kCrc64Nvme, kCrc32c, kCrc32, kSha256, kSha1, kMd5 };

struct Checksum {
  Sum sum = Sum::kNone;
  std::string text;  // in base64; an MD5 in hex
};

// What the answer to a HEAD or a GET says of the whole object: x-amz-checksum-* where there is one,
// the fastest first, or the ETag where it is an MD5. Those of uploads in parts and of objects under
// a key of their own are none.
Checksum ChecksumOf(const Response& response);

// An ETag without its quotes, and without the W/ of those that promise less.
std::string Bare(std::string etag);

// Adds up bytes as they come.
class Adder {
 public:
  explicit Adder(Sum sum);

  void Add(const char* data, size_t n);

  // As Checksum has it; nothing is added after that.
  std::string Text();

 private:
  std::variant<std::monostate, Crc64Nvme, Crc32c, Crc32, Digest> state_;
  bool in_hex_;
};

// Whether these bytes add up to it; false where it is none.
bool IsOf(const Checksum& checksum, const Spool& content);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CHECKSUM_H_
