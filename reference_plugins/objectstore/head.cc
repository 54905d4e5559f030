// What a store says of one object: HEAD, and where that does not tell, a GET of its first byte.

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "answers.h"
#include "failure.h"
#include "objects.h"
#include "text.h"
#include "times.h"

namespace objectstore {
namespace {

// The bytes that a GET of the first byte may bring where the store knows no ranges.
constexpr size_t kMostUnasked = 64 << 10;

// Nothing where `text` is no number.
std::optional<uint64_t> NumberIn(const std::string& text) {
  constexpr size_t kMostDigits = 18;  // an exabyte
  if (text.empty() || text.size() > kMostDigits ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::strtoull(text.c_str(), nullptr, 10);
}

// What follows the slash of `bytes 0-0/11`, or of `bytes */0`.
std::optional<uint64_t> TotalOf(const Response& response, const std::string& span) {
  const std::string start = "bytes " + span + "/";
  const std::string text = response.Header("content-range");
  if (!BeginsWith(text, start)) return std::nullopt;
  return NumberIn(text.substr(start.size()));
}

// There are gateways that answer every HEAD with a length of 0.
bool IsTrue(uint64_t size, const std::string& etag) {
  constexpr char kMd5OfNothing[] = "d41d8cd98f00b204e9800998ecf8427e";
  return size > 0 || Bare(etag) == kMd5OfNothing;
}

// How long the whole object is, as the answer to a GET of its first byte says.
std::optional<uint64_t> SizeIn(const Response& response) {
  if (response.status == 206) return TotalOf(response, "0-0");
  if (Is(response, 200)) return response.body.size();  // it knows no ranges
  // An empty object has no first byte. S3 says so in the body, others as RFC 9110 has it.
  const bool is_empty =
      response.status == 416 && (TotalOf(response, "*") == uint64_t{0} ||
                                 ErrorDetail(response.body, "ActualObjectSize") == "0");
  return is_empty ? std::optional<uint64_t>(0) : std::nullopt;
}

Version VersionOf(const Response& response, uint64_t size) {
  return {StrongETag(response), size, TimeOf(response.Header("last-modified")),
          ChecksumOf(response)};
}

}  // namespace

Answer Objects::Head(const Name& name) const {
  const uint64_t changes = metadata_.changes();
  Answer answer = AskForHead(name);
  metadata_.Keep(name, answer, changes);
  return answer;
}

Answer Objects::AskForHead(const Name& name) const {
  const Parameters headers = {{"x-amz-checksum-mode", "ENABLED"}};
  const Response head = s3_.Send({"HEAD", name, {}, headers});
  const auto size = NumberIn(head.Header("content-length"));
  // Stores answer in XML, or with the header that all of S3's answers have. What has neither comes
  // from somebody on the way.
  const std::string type = head.Header("content-type");
  const bool is_stores = type.empty() ? head.headers.count("x-amz-request-id") != 0
                                      : type.find("xml") != std::string::npos;
  if (head.status == 404 && is_stores) return std::nullopt;
  if (head.status == 200 && !head.Header("etag").empty() && size &&
      IsTrue(*size, head.Header("etag"))) {
    return VersionOf(head, *size);
  }
  // The answer to a HEAD has no body that could say what is wrong.
  constexpr long kAskAgain[] = {200, 400, 404, 405, 501};
  if (std::find(std::begin(kAskAgain), std::end(kAskAgain), head.status) == std::end(kAskAgain)) {
    throw Refusal(head);
  }

  Call call = {"GET", name, {}, headers};
  call.headers["range"] = "bytes=0-0";
  call.most_text = kMostUnasked;
  const Response first = s3_.Send(call);
  if (first.status == 404 && ErrorCode(first.body) == "NoSuchKey") return std::nullopt;
  if (first.status >= 300 && first.status != 416) throw Refusal(first);
  const auto total = SizeIn(first);
  if (!total) throw Failure(TF_INTERNAL, "the store does not say how long the object is");
  Version version = VersionOf(first.status == 416 ? head : first, *total);
  if (version.etag.empty()) {
    throw Failure(TF_INTERNAL, "the store gives no ETag, so versions cannot be told apart");
  }
  return version;
}

}  // namespace objectstore
