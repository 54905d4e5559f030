// Requests to the store: addressed, signed, and tried again where that may help.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_S3_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_S3_H_

#include <string>

#include "config.h"
#include "http.h"
#include "sigv4.h"
#include "sink.h"

namespace dragonfly {

// An object, or with an empty key its bucket.
struct Name {
  std::string bucket;
  std::string key;
};

struct Call {
  std::string method;
  Name name;
  Parameters query = {};
  Parameters headers = {};  // names in lower case
  Body body = {};
  Sink* into = nullptr;
  bool idempotent = true;
  size_t most_text = Request().most_text;
};

class S3 {
 public:
  // Both outlive it.
  S3(const Config& config, Http& http) : config_(config), http_(http) {}

  // Whatever the status. Throws Failure.
  Response Send(const Call& call) const;

  // A URL with which dfdaemon may get this object.
  std::string PresignedUrl(const Name& name) const;

 private:
  const Config& config_;
  Http& http_;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_S3_H_
