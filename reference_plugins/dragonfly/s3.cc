#include "s3.h"

#include <ctime>

#include "digest.h"
#include "retry.h"

namespace dragonfly {
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
  return Hex(body.file == nullptr
                 ? Sha256(body.text)
                 : Sha256OfFile(body.file->descriptor(), body.offset, body.length));
}

}  // namespace

Response S3::Send(const Call& call) const {
  const Address address = AddressOf(config_.endpoint, call.name, config_.force_path_style);
  const std::string query = QueryString(call.query);
  const std::string hash = HashOf(call.body);
  return Persistently(config_.retry_deadline_s, call.idempotent, [&] {
    // Signed anew each time: a signature is good for some minutes only.
    const Scope scope = {config_.region, "s3", std::time(nullptr)};
    Signable signable = {call.method, address.path, call.query, call.headers, hash};
    signable.headers["host"] = address.host;
    const std::string range = call.into == nullptr ? "" : call.into->Ask();
    if (!range.empty()) signable.headers["range"] = range;
    signable.headers["x-amz-content-sha256"] = hash;
    signable.headers["x-amz-date"] = Timestamp(scope.now);
    if (!config_.credentials.session_token.empty()) {
      signable.headers["x-amz-security-token"] = config_.credentials.session_token;
    }
    Request request;
    request.method = call.method;
    request.url = address.origin + address.path + (query.empty() ? "" : "?" + query);
    request.headers = signable.headers;
    request.headers["authorization"] = Authorization(signable, config_.credentials, scope);
    request.body = call.body;
    request.into = call.into;
    request.most_text = call.most_text;
    return http_.Send(request);
  });
}

std::string S3::PresignedUrl(const Name& name) const {
  const Address address = AddressOf(config_.proxy_endpoint, name, config_.force_path_style);
  const Scope scope = {config_.region, "s3", std::time(nullptr)};
  const Signable signable = {"GET", address.path, {}, {{"host", address.host}}, ""};
  return address.origin + address.path + "?" +
         PresignedQuery(signable, config_.credentials, scope, config_.sign_expires_s);
}

}  // namespace dragonfly
