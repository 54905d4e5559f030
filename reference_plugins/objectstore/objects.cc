#include "objects.h"

#include <algorithm>

#include "answers.h"
#include "documents.h"
#include "failure.h"

namespace objectstore {
namespace {

Parameters Headers(const Condition& condition) {
  if (condition.only_if_missing) return {{"if-none-match", "*"}};
  if (!condition.only_if_etag.empty()) return {{"if-match", condition.only_if_etag}};
  return {};
}

// The ETag of what was put. Without it nobody knows that anything was.
std::string NewETag(const Response& response) {
  const std::string etag = StrongETag(response);
  if (!Is(response, 200) || etag.empty()) throw Refusal(response);
  return etag;
}

}  // namespace

std::string Objects::Put(const Name& name, const Spool* file, const Condition& condition) const {
  const Metadata::Change change(metadata_, name);
  try {
    return Send(name, file, condition);
  } catch (const Failure& failure) {
    if (failure.code() == TF_UNIMPLEMENTED && !Headers(condition).empty()) {
      // The store knows no conditions. It is asked a moment before, then.
      const auto now = Head(name);
      const bool holds =
          condition.only_if_missing ? !now : now && now->etag == condition.only_if_etag;
      if (!holds) throw Failure(TF_ABORTED, "somebody else changed the object");
      return Send(name, file, {});
    }
    // When the answer of a first try is lost, the second meets what the first one left: a condition
    // that no longer holds, or no upload.
    if (file == nullptr || failure.code() != TF_ABORTED) throw;
    const auto there = Head(name);
    if (!there || there->size != file->size() || !IsOf(there->checksum, *file)) throw;
    return there->etag;
  }
}

std::string Objects::Send(const Name& name, const Spool* file, const Condition& condition) const {
  // S3 takes 10,000 parts, each but the last at least 5 MiB.
  constexpr uint64_t kPart = 64 << 20;
  constexpr uint64_t kMostParts = 10000;
  const uint64_t size = file == nullptr ? 0 : file->size();
  if (size > kPart) {
    uint64_t part = kPart;
    while (part * kMostParts < size) part *= 2;
    const size_t count = (size + part - 1) / part;
    return InParts(name, count, Headers(condition), [&](size_t number, const Parameters& query) {
      Call call = {"PUT", name, query};
      call.body.file = file;
      call.body.offset = part * number;
      call.body.length = std::min(part, size - call.body.offset);
      return NewETag(s3_.Send(call));
    });
  }
  Call call = {"PUT", name, {}, Headers(condition)};
  call.body.file = file;
  call.body.length = size;
  // Of two directories with the same marker nobody can tell who made them.
  call.idempotent = file != nullptr || call.headers.empty();
  return NewETag(s3_.Send(call));
}

void Objects::Delete(const Name& name, const std::string& only_if_etag) const {
  const Metadata::Change change(metadata_, name);
  Call call = {"DELETE", name};
  if (!only_if_etag.empty()) call.headers["if-match"] = only_if_etag;
  Response response = s3_.Send(call);
  if (response.status == 501 && !only_if_etag.empty()) {
    call.headers.clear();  // the store knows no conditions here
    response = s3_.Send(call);
  }
  if (response.status == 204) return;
  // Somebody on the way may say 200; of two tries the first may have deleted it.
  const bool may_be_gone = Is(response, 200) || response.status == 404 || response.status == 412;
  if (may_be_gone && !Head(name)) return;
  throw Refusal(response);
}

void Objects::Copy(const Name& source, const Version& version, const Name& target) const {
  constexpr uint64_t kMostOfPart = uint64_t{1} << 30;  // several at the same time are faster
  constexpr uint64_t kMostParts = 10000;
  const Metadata::Change change(metadata_, target);
  const Parameters headers = {
      {"x-amz-copy-source", "/" + Encoded(source.bucket) + "/" + Encoded(source.key, true)},
      {"x-amz-copy-source-if-match", version.etag}};
  const auto new_etag = [](const Response& response, const char* document) {
    // A copy takes its time, so a store may say 200 first and an error in the end.
    if (!Is(response, 200)) throw Refusal(response);
    return ElementText(response.body, document, "ETag");
  };
  if (version.size <= copy_part_bytes_) {
    new_etag(s3_.Send({"PUT", target, {}, headers}), "CopyObjectResult");
    return;
  }
  const uint64_t part = std::min(copy_part_bytes_, kMostOfPart);
  const uint64_t count = (version.size + part - 1) / part;
  if (count > kMostParts) {
    throw Failure(TF_RESOURCE_EXHAUSTED, "a copy needs more than 10,000 parts of copy_part_bytes");
  }
  InParts(target, count, {}, [&](size_t number, const Parameters& query) {
    const uint64_t first = part * number;
    const uint64_t last = std::min(first + part, version.size) - 1;
    Call call = {"PUT", target, query, headers};
    call.headers["x-amz-copy-source-range"] =
        "bytes=" + std::to_string(first) + "-" + std::to_string(last);
    return new_etag(s3_.Send(call), "CopyPartResult");
  });
}

}  // namespace objectstore
