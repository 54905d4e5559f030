// A bucket: a flat set of objects, each a key and its bytes, as stores on the network keep them.
// There are no directories, and only whole objects are ever put. A filesystem (filesystem.cc) is
// made of these six requests, whoever answers them.
//
// What goes wrong is thrown: a Failure, a std::system_error with an errno value, or std::bad_alloc.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MINIMAL_BUCKET_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MINIMAL_BUCKET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "tf_filesystem_plugin.h"

namespace objectstore_minimal {

// Holds no credentials: its text is for a person.
struct Failure : std::runtime_error {
  Failure(TF_Code its_code, const std::string& text) : std::runtime_error(text), code(its_code) {}
  TF_Code code;
};

[[noreturn]] inline void Refuse(int why) { throw std::system_error(why, std::generic_category()); }

// The longest key, in bytes.
constexpr size_t kLongestKey = 1024;

// What is known of an object. Two objects of one key differ in their versions.
struct Facts {
  uint64_t size = 0;
  int64_t mtime_nsec = 0;
  std::string version;
};

class Bucket {
 public:
  virtual ~Bucket() = default;

  // Nothing where there is no such object. Who cannot tell throws.
  virtual std::optional<Facts> Head(const std::string& key) const = 0;

  // The `n` bytes from `offset` on, all of them: they lie within the object of which Head told
  // `facts`. ABORTED where there is another object by now.
  virtual std::string Get(const std::string& key, const Facts& facts, uint64_t offset,
                          size_t n) const = 0;

  // Makes an object, or replaces it, in one step.
  virtual void Put(const std::string& key, const std::string& content) const = 0;

  // After it there is no such object. A directory says ENOENT where there was none; stores do not.
  virtual void Delete(const std::string& key) const = 0;

  // The first `most` keys that begin with `prefix`; of more than a million, none.
  virtual std::set<std::string> List(const std::string& prefix, size_t most = SIZE_MAX) const = 0;

  // Makes or replaces `target`, which is another key than `source`.
  virtual void Copy(const std::string& source, const std::string& target) const = 0;
};

// The bucket that TFFS_BUCKET names: http(s)://host:port/bucket, or a local directory. Without, it
// is the directory /tmp/tffs-bucket-<user>.
std::shared_ptr<const Bucket> OpenBucket();

// directory_bucket.cc and http_bucket.cc. This plugin may be built without the second.
std::shared_ptr<const Bucket> OpenDirectory(const std::string& path);
std::shared_ptr<const Bucket> OpenHttp(const std::string& url);

// How keys are spelt: all but letters, digits and what is in `plain` becomes %XX; and back, where a
// plus sign is a blank. Throws Failure where `text` is not of that form.
std::string Encoded(std::string_view text, std::string_view plain);
std::string Decoded(std::string_view text);

}  // namespace objectstore_minimal

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MINIMAL_BUCKET_H_
