#include "s3.h"

#include <ctime>
#include <set>

#include "answers.h"
#include "counters.h"
#include "digest.h"
#include "retry.h"

namespace objectstore {
namespace {

// Where a name is, seen from one endpoint.
struct Address {
  std::string origin;  // scheme://host:port
  std::string host;
  std::string path;
};

Address AddressOf(const std::string& endpoint, const Name& name, bool path_style) {
  const size_t host = endpoint.find("://") + 3;
  Address address = {endpoint, endpoint.substr(host), "/"};
  if (path_style) {
    address.path += Encoded(name.bucket);
    if (!name.key.empty()) address.path += "/";
  } else {
    address.host = name.bucket + "." + address.host;
    address.origin = endpoint.substr(0, host) + address.host;
  }
  address.path += Encoded(name.key, true);
  return address;
}

std::string HashOf(const Body& body) {
  return Hex(body.file == nullptr ? Sha256(body.text)
                                  : Sha256OfFile(body.file->descriptor(), 0, body.size()));
}

// Whether credentials may be what is wrong.
bool MayHaveExpired(const Response& response) {
  return response.status == 400 || response.status == 401 || response.status == 403;
}

// Whether the store says that they are. Not all of them use S3's own words.
bool HasExpired(const Response& response) {
  static const std::set<std::string> codes = {"ExpiredToken",       "ExpiredTokenException",
                                              "InvalidAccessKeyId", "InvalidToken",
                                              "InvalidTokenId",     "TokenRefreshRequired"};
  return MayHaveExpired(response) && codes.count(ErrorCode(response.body)) > 0;
}

}  // namespace

Response S3::Sent(const Call& call, Identity* identity) const {
  const Address address = AddressOf(config_.endpoint, call.name, config_.force_path_style);
  const std::string query = QueryString(call.query);
  const std::string hash = HashOf(call.body);
  return Persistently(config_.plugin, "the store", config_.retry_deadline_s, call.idempotent, [&] {
    ++counters().requests_to_store;
    *identity = keychain_.Current();
    // Signed anew each time: a signature is good for some minutes only.
    const Scope scope = {config_.region, "s3", std::time(nullptr)};
    Signable signable = {call.method, address.path, call.query, call.headers, hash};
    signable.headers["host"] = address.host;
    const std::string range = call.into == nullptr ? "" : call.into->Ask();
    if (!range.empty()) signable.headers["range"] = range;
    signable.headers["x-amz-content-sha256"] = hash;
    signable.headers["x-amz-date"] = Timestamp(scope.now);
    if (!(*identity)->session_token.empty()) {
      signable.headers["x-amz-security-token"] = (*identity)->session_token;
    }
    Request request;
    request.method = call.method;
    request.url = address.origin + address.path + (query.empty() ? "" : "?" + query);
    request.headers = signable.headers;
    request.headers["authorization"] = Authorization(signable, **identity, scope);
    request.body = call.body;
    request.into = call.into;
    request.most_text = call.most_text;
    return http_.Send(request);
  });
}

Response S3::Send(const Call& call) const {
  Identity identity;
  Response response = Sent(call, &identity);
  if (!keychain_.renews() || !MayHaveExpired(response)) return response;
  bool expired = HasExpired(response);
  if (call.method == "HEAD") {
    // No body says what is wrong. The answer to a GET has one.
    Call first = {"GET", call.name, {}, {{"range", "bytes=0-0"}}};
    first.most_text = 64 << 10;
    Identity same;
    expired = HasExpired(Sent(first, &same)) || same != identity;
  }
  return expired && keychain_.Instead(identity) != identity ? Sent(call, &identity) : response;
}

Response S3::WithUrl(const Name& name, const std::string& endpoint, int seconds,
                     const std::function<Response(const std::string& url)>& send) const {
  const Identity identity = keychain_.Current();
  Response response = send(PresignedUrl(name, endpoint, seconds, *identity));
  if (!keychain_.renews() || !MayHaveExpired(response)) return response;
  // Who fetched it may pass on no body that says what is wrong. The store is asked itself.
  Send({"HEAD", name});
  const Identity now = keychain_.Current();
  return now == identity ? response : send(PresignedUrl(name, endpoint, seconds, *now));
}

std::string S3::PresignedUrl(const Name& name, const std::string& endpoint, int seconds,
                             const Credentials& credentials) const {
  const Address address = AddressOf(endpoint, name, config_.force_path_style);
  const Scope scope = {config_.region, "s3", std::time(nullptr)};
  const Signable signable = {"GET", address.path, {}, {{"host", address.host}}, ""};
  return address.origin + address.path + "?" +
         PresignedQuery(signable, credentials, scope, seconds);
}

}  // namespace objectstore
