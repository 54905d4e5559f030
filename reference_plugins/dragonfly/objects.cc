#include "objects.h"

#include <algorithm>
#include <cstdlib>

#include "answers.h"
#include "documents.h"

namespace dragonfly {
namespace {

Parameters Headers(const Condition& condition) {
  if (condition.only_if_missing) return {{"if-none-match", "*"}};
  if (!condition.only_if_etag.empty()) return {{"if-match", condition.only_if_etag}};
  return {};
}

}  // namespace

std::optional<Version> Objects::Head(const Name& name) const {
  const Response response = s3_.Send({"HEAD", name});
  if (response.status == 404) return std::nullopt;
  if (response.status != 200) throw Refusal(response, false);
  Version version;
  version.etag = response.Header("etag");
  version.size = std::strtoull(response.Header("content-length").c_str(), nullptr, 10);
  version.mtime_nsec = TimeOf(response.Header("last-modified"));
  return version;
}

bool Objects::HasBucket(const std::string& bucket) const {
  const Response response = s3_.Send({"HEAD", {bucket, ""}});
  if (response.status == 404) return false;
  if (response.status != 200) throw Refusal(response, false);
  return true;
}

std::string Objects::Put(const Name& name, const Spool* file, const Condition& condition) const {
  // S3 takes 10,000 parts, each but the last at least 5 MiB.
  constexpr uint64_t kPart = 64 << 20;
  constexpr uint64_t kMostParts = 10000;
  const uint64_t size = file == nullptr ? 0 : file->size();
  if (size > kPart) {
    uint64_t part = kPart;
    while (part * kMostParts < size) part *= 2;
    const int count = static_cast<int>((size + part - 1) / part);
    return InParts(name, count, condition, [&](int number, const Parameters& query) {
      Call call = {"PUT", name, query};
      call.body.file = file;
      call.body.offset = part * static_cast<uint64_t>(number);
      call.body.length = std::min(part, size - call.body.offset);
      const Response response = s3_.Send(call);
      if (response.status != 200) throw Refusal(response, false);
      return response.Header("etag");
    });
  }
  Call call = {"PUT", name, {}, Headers(condition)};
  call.body.file = file;
  call.body.length = size;
  // A second try of a conditional PUT would meet what the first one left.
  call.idempotent = call.headers.empty();
  const Response response = s3_.Send(call);
  if (response.status != 200) throw Refusal(response, false);
  return response.Header("etag");
}

void Objects::Delete(const Name& name) const {
  const Response response = s3_.Send({"DELETE", name});
  if (response.status != 204 && response.status != 200 && response.status != 404) {
    throw Refusal(response, false);
  }
}

void Objects::Copy(const Name& source, const Version& version, const Name& target) const {
  constexpr uint64_t kMost = uint64_t{5} << 30;  // of a copy in one go
  constexpr uint64_t kPart = uint64_t{1} << 30;
  const Parameters headers = {
      {"x-amz-copy-source", "/" + Encoded(source.bucket) + "/" + Encoded(source.key, true)},
      {"x-amz-copy-source-if-match", version.etag}};
  const auto demand = [](const Response& response) {
    // A copy takes its time, so a store may say 200 first and an error in the end.
    if (response.status != 200 || !ErrorCode(response.body).empty()) throw Refusal(response, false);
  };
  if (version.size <= kMost) return demand(s3_.Send({"PUT", target, {}, headers}));
  const int count = static_cast<int>((version.size + kPart - 1) / kPart);
  InParts(target, count, {}, [&](int number, const Parameters& query) {
    const uint64_t first = kPart * static_cast<uint64_t>(number);
    const uint64_t last = std::min(first + kPart, version.size) - 1;
    Call call = {"PUT", target, query, headers};
    call.headers["x-amz-copy-source-range"] =
        "bytes=" + std::to_string(first) + "-" + std::to_string(last);
    const Response response = s3_.Send(call);
    demand(response);
    return ElementText(response.body, "ETag");
  });
}

}  // namespace dragonfly
