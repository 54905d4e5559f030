#include "sigv4.h"

#include "digest.h"

namespace objectstore {
namespace {

constexpr char kAlgorithm[] = "AWS4-HMAC-SHA256";

std::string Date(std::time_t now) { return Timestamp(now).substr(0, 8); }

std::string ScopeText(const Scope& scope) {
  return Date(scope.now) + "/" + scope.region + "/" + scope.service + "/aws4_request";
}

// Blanks around a value do not count, and several in a row count as one.
std::string OneSpaced(const std::string& value) {
  std::string trimmed;
  for (const char c : value) {
    if (c == ' ' && (trimmed.empty() || trimmed.back() == ' ')) continue;
    trimmed += c;
  }
  if (!trimmed.empty() && trimmed.back() == ' ') trimmed.pop_back();
  return trimmed;
}

std::string SignedHeaders(const Parameters& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string Signature(const Signable& signable, const Credentials& credentials,
                      const Scope& scope) {
  std::string canonical =
      signable.method + "\n" + signable.path + "\n" + QueryString(signable.query) + "\n";
  for (const auto& [name, value] : signable.headers)
    canonical += name + ":" + OneSpaced(value) + "\n";
  canonical += "\n" + SignedHeaders(signable.headers) + "\n" + signable.payload_hash;

  const std::string to_sign = std::string(kAlgorithm) + "\n" + Timestamp(scope.now) + "\n" +
                              ScopeText(scope) + "\n" + Hex(Sha256(canonical));
  std::string key = HmacSha256("AWS4" + credentials.secret_key, Date(scope.now));
  for (const std::string& part : {scope.region, scope.service, std::string("aws4_request")}) {
    key = HmacSha256(key, part);
  }
  return Hex(HmacSha256(key, to_sign));
}

}  // namespace

std::string Encoded(std::string_view text, bool keep_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string QueryString(const Parameters& query) {
  // The order is that of the encoded names.
  Parameters encoded;
  for (const auto& [name, value] : query) encoded[Encoded(name)] = Encoded(value);
  std::string text;
  for (const auto& [name, value] : encoded) {
    text += (text.empty() ? "" : "&") + name + "=" + value;
  }
  return text;
}

std::string Timestamp(std::time_t now) {
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts));
}

std::string Authorization(const Signable& signable, const Credentials& credentials,
                          const Scope& scope) {
  return std::string(kAlgorithm) + " Credential=" + credentials.access_key + "/" +
         ScopeText(scope) + ",SignedHeaders=" + SignedHeaders(signable.headers) +
         ",Signature=" + Signature(signable, credentials, scope);
}

std::string PresignedQuery(const Signable& signable, const Credentials& credentials,
                           const Scope& scope, int seconds) {
  Signable presigned = signable;
  presigned.headers = {{"host", signable.headers.at("host")}};
  presigned.payload_hash = "UNSIGNED-PAYLOAD";
  presigned.query["X-Amz-Algorithm"] = kAlgorithm;
  presigned.query["X-Amz-Credential"] = credentials.access_key + "/" + ScopeText(scope);
  presigned.query["X-Amz-Date"] = Timestamp(scope.now);
  presigned.query["X-Amz-Expires"] = std::to_string(seconds);
  presigned.query["X-Amz-SignedHeaders"] = "host";
  if (!credentials.session_token.empty()) {
    presigned.query["X-Amz-Security-Token"] = credentials.session_token;
  }
  const std::string signature = Signature(presigned, credentials, scope);
  return QueryString(presigned.query) + "&X-Amz-Signature=" + signature;
}

}  // namespace objectstore
