// AWS's Signature Version 4, in both its forms: an Authorization header, and a query string that
// makes a URL anybody may use for a while. A calculation: nothing here talks to anyone.
//
// Source: "Authenticating Requests (AWS Signature Version 4)" in Amazon S3's API reference.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SIGV4_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SIGV4_H_

#include <ctime>
#include <map>
#include <string>
#include <string_view>

namespace objectstore {

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // may be empty
};

// What a signature is good for.
struct Scope {
  std::string region;
  std::string service = "s3";
  std::time_t now = 0;
};

using Parameters = std::map<std::string, std::string>;  // names and values as they are, not encoded

struct Signable {
  std::string method;
  std::string path;  // encoded, as it goes over the wire
  Parameters query;
  Parameters headers;        // names in lower case; "host" is among them; all are signed
  std::string payload_hash;  // SHA-256 in hex, or one of the words that stand for it
};

// All but letters, digits and -._~ becomes %XX; with `keep_slashes`, slashes stay.
std::string Encoded(std::string_view text, bool keep_slashes = false);

// name=value&..., encoded and in the order a signature needs.
std::string QueryString(const Parameters& query);

// The time as x-amz-date has it: 20130524T000000Z.
std::string Timestamp(std::time_t now);

// The value of the header Authorization.
std::string Authorization(const Signable& signable, const Credentials& credentials,
                          const Scope& scope);

// The query string, signature included, with which anybody may send `signable` for `seconds`.
// Only the host is signed, so that whoever passes the request on may add headers and change Range.
std::string PresignedQuery(const Signable& signable, const Credentials& credentials,
                           const Scope& scope, int seconds);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SIGV4_H_
