#include "answers.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <new>
#include <pugixml.hpp>

#include "times.h"

namespace objectstore {
namespace {

// The status that an error code comes with, where it does not come in a 200.
long StatusOf(const std::string& code) {
  static const std::map<std::string, long> statuses = {
      {"AccessDenied", 403},       {"ConditionalRequestConflict", 409},
      {"InternalError", 500},      {"NoSuchBucket", 404},
      {"NoSuchKey", 404},          {"NoSuchUpload", 404},
      {"OperationAborted", 409},   {"PreconditionFailed", 412},
      {"ServiceUnavailable", 503}, {"SlowDown", 503},
      {"EntityTooLarge", 400},     {"ExpiredToken", 400},
      {"InvalidPart", 400},        {"RequestTimeout", 400},
      {"NotImplemented", 501},     {"MethodNotAllowed", 405}};
  const auto found = statuses.find(code);
  return found == statuses.end() ? 0 : found->second;
}

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

// A gateway in front of the store, such as those of Cloudflare (520 to 529), that got no answer.
bool IsGatewayWithoutStore(long status) {
  return status == 502 || status == 503 || status == 504 || (status >= 520 && status <= 529);
}

TF_Code CodeOf(long status, const std::string& code, bool proxy_failed) {
  if (code == "InternalError") return TF_INTERNAL;
  if (code == "NoSuchUpload") return TF_ABORTED;  // somebody else ended it
  if (code == "ObjectParentIsFile") return TF_FAILED_PRECONDITION;
  if (code == "QuotaExceeded") return TF_RESOURCE_EXHAUSTED;
  if (status == 408 || status == 429 || IsGatewayWithoutStore(status)) return TF_UNAVAILABLE;
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
    case 507:
      return TF_RESOURCE_EXHAUSTED;
    case 500:
      return proxy_failed ? TF_UNAVAILABLE : TF_INTERNAL;
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return TF_FAILED_PRECONDITION;  // another region or endpoint than the configured one
    default:
      return TF_INTERNAL;
  }
}

}  // namespace

std::string ErrorDetail(const std::string& body, const char* element) {
  pugi::xml_document document;
  // Most bodies are no error, and are not parsed for it.
  if (body.find("<Error") == std::string::npos) return "";
  const pugi::xml_parse_result parsed = document.load_buffer(body.data(), body.size());
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) return "";
  return Word(document.child("Error").child(element).text().get());
}

std::string ErrorCode(const std::string& body) { return ErrorDetail(body, "Code"); }

bool Is(const Response& response, long status) {
  return response.status == status && ErrorCode(response.body).empty();
}

TF_Code MeaningOf(const std::string& error_code) {
  return CodeOf(StatusOf(error_code), error_code, false);
}

bool DidNothing(const Response& response) {
  const std::string code = ErrorCode(response.body);
  // Two at the same time, of which the store refused one.
  if (code == "ConditionalRequestConflict" || code == "OperationAborted") return true;
  // Somebody on the way says 503 of a connection that broke off behind the request, too.
  return response.status == 429 || (response.status == 503 && !code.empty()) || code == "SlowDown";
}

bool MayPass(const Response& response) {
  const long status = response.status;
  const std::string code = ErrorCode(response.body);
  return DidNothing(response) || status == 408 || status == 500 || IsGatewayWithoutStore(status) ||
         code == "InternalError" || code == "RequestTimeout" || code == "ServiceUnavailable";
}

double RetryAfter(const Response& response) {
  const std::string text = response.Header("retry-after");
  if (text.empty()) return 0;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    return std::strtod(text.c_str(), nullptr);
  }
  const int64_t at = TimeOf(text) / 1000000000;
  return std::max<double>(0, static_cast<double>(at - std::time(nullptr)));
}

std::string Strong(std::string etag) {
  if (etag.rfind("W/", 0) == 0) etag.erase(0, 2);
  return etag;
}

std::string StrongETag(const Response& response) { return Strong(response.Header("etag")); }

std::string Told(const char* who, const Response& response) {
  const std::string code = ErrorCode(response.body);
  std::string text = std::string(who) + " answers " + std::to_string(response.status);
  if (!code.empty()) text += " " + code;
  if (!response.proxy_error.empty()) text += " (" + response.proxy_error + ")";
  return text;
}

Failure Refusal(const Response& response, const char* who) {
  const std::string code = ErrorCode(response.body);
  long meant = response.status < 300 ? StatusOf(code) : response.status;
  // Somebody on the way, who knows nothing of the object.
  if (meant == 404 && code.empty() && response.proxy_error.empty()) meant = 0;
  return Failure(CodeOf(meant, code, !response.proxy_error.empty()), Told(who, response));
}

}  // namespace objectstore
