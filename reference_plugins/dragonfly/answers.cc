#include "answers.h"

#include <algorithm>
#include <cctype>
#include <pugixml.hpp>

namespace dragonfly {
namespace {

constexpr char kErrorType[] = "x-dragonfly-error-type";

TF_Code OfBadRequest(const std::string& code) {
  if (code == "SlowDown" || code == "RequestTimeout") return TF_UNAVAILABLE;
  if (code == "ExpiredToken") return TF_UNAUTHENTICATED;
  if (code == "EntityTooLarge") return TF_RESOURCE_EXHAUSTED;
  return TF_INVALID_ARGUMENT;
}

TF_Code OfConflict(const std::string& code) {
  // A store of files: an object is where a directory would have to be, or the other way round.
  if (code == "ObjectParentIsFile" || code == "ExistingObjectIsDirectory") {
    return TF_FAILED_PRECONDITION;
  }
  return TF_ABORTED;
}

TF_Code CodeOf(long status, const std::string& code, bool dragonfly_failed) {
  if (code == "InternalError") return TF_INTERNAL;  // also in the body of a 200
  if (code == "ObjectParentIsFile") return TF_FAILED_PRECONDITION;
  if (code == "QuotaExceeded") return TF_RESOURCE_EXHAUSTED;
  switch (status) {
    case 400:
      return OfBadRequest(code);
    case 401:
      return TF_UNAUTHENTICATED;
    case 403:
      return TF_PERMISSION_DENIED;
    case 404:
    case 410:
      return TF_NOT_FOUND;
    case 405:
    case 501:
      return TF_UNIMPLEMENTED;
    case 409:
      return OfConflict(code);
    case 412:
      return TF_ABORTED;
    case 416:
      return TF_OUT_OF_RANGE;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return TF_UNAVAILABLE;
    case 507:
      return TF_RESOURCE_EXHAUSTED;
    case 500:
      return dragonfly_failed ? TF_UNAVAILABLE : TF_INTERNAL;
    default:
      // A redirect means another region or endpoint than the configured one.
      return status >= 300 && status < 400 ? TF_FAILED_PRECONDITION : TF_INTERNAL;
  }
}

// Words of a server stand in messages only as far as they are words.
std::string Word(const std::string& text) {
  constexpr size_t kMost = 64;
  std::string word;
  for (const char c : text.substr(0, kMost)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) word += c;
  }
  return word;
}

}  // namespace

std::string ErrorCode(const std::string& body) {
  pugi::xml_document document;
  if (body.empty() || !document.load_buffer(body.data(), body.size())) return "";
  return Word(document.child("Error").child("Code").text().get());
}

bool DidNothing(const Response& response) {
  return response.status == 429 || response.status == 503 ||
         (response.status == 400 && ErrorCode(response.body) == "SlowDown");
}

bool MayPass(const Response& response) {
  const long status = response.status;
  return DidNothing(response) || status == 408 || status == 500 || status == 502 || status == 504 ||
         (status == 400 && ErrorCode(response.body) == "RequestTimeout");
}

Failure Refusal(const Response& response, bool by_proxy) {
  const std::string code = ErrorCode(response.body);
  const std::string type = Word(response.Header(kErrorType));
  std::string text = std::string(by_proxy ? "dfdaemon" : "the store") + " answers " +
                     std::to_string(response.status);
  if (!code.empty()) text += " " + code;
  if (!type.empty()) text += " (X-Dragonfly-Error-Type: " + type + ")";
  return Failure(CodeOf(response.status, code, !type.empty()), text);
}

}  // namespace dragonfly
