// Requests to the store: addressed, signed, and tried again where that may help.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3_H_

#include <functional>
#include <string>

#include "config.h"
#include "http.h"
#include "keychain.h"
#include "sigv4.h"
#include "sink.h"

namespace objectstore {

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
  // All outlive it.
  S3(const Config& config, Http& http, Keychain& keychain)
      : config_(config), http_(http), keychain_(keychain) {}

  // Whatever the status. Where the store says that credentials have expired, the request is sent
  // once more, with new ones. Throws Failure.
  Response Send(const Call& call) const;

  // Gives what `send` gives: it gets a URL with which anybody may get this object for so many
  // `seconds` from the store at `endpoint`, and is called once more where the credentials in the
  // first one have expired.
  Response WithUrl(const Name& name, const std::string& endpoint, int seconds,
                   const std::function<Response(const std::string& url)>& send) const;

 private:
  // Sets `identity` to the one that the last try was signed with.
  Response Sent(const Call& call, Identity* identity) const;

  std::string PresignedUrl(const Name& name, const std::string& endpoint, int seconds,
                           const Credentials& credentials) const;

  const Config& config_;
  Http& http_;
  Keychain& keychain_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_S3_H_
