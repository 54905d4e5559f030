#include "objects.h"

#include "answers.h"
#include "documents.h"
#include "failure.h"
#include "multipart.h"

namespace objectstore {
namespace {

Parameters Headers(const Condition& condition) {
  if (condition.only_if_missing) return {{"if-none-match", "*"}};
  if (!condition.only_if_etag.empty()) return {{"if-match", condition.only_if_etag}};
  return {};
}

}  // namespace

std::string NewETag(const Response& response) {
  std::string etag = StrongETag(response);
  if (!Is(response, 200) || etag.empty()) throw Refusal(response);
  return etag;
}

std::string Objects::Conditionally(const Name& name, const Condition& condition,
                                   const std::function<std::string(const Parameters& headers)>& put,
                                   const std::function<bool(const Version& there)>& is_it) const {
  const Metadata::Change change(metadata_, name);
  const Parameters headers = Headers(condition);
  try {
    return put(headers);
  } catch (const Failure& failure) {
    if (failure.code() == TF_UNIMPLEMENTED && !headers.empty()) {
      // The store knows no conditions. It is asked a moment before, then.
      const auto now = Head(name);
      const bool holds =
          condition.only_if_missing ? !now : now && now->etag == condition.only_if_etag;
      if (!holds) throw Failure(TF_ABORTED, "somebody else changed the object");
      return put({});
    }
    // When the answer of a first try is lost, the second meets what the first one left: a condition
    // that no longer holds, or no upload. An answer that makes no sense says nothing of either.
    if (failure.code() != TF_ABORTED && failure.code() != TF_INTERNAL) throw;
    const auto there = Head(name);
    if (!there || !is_it(*there)) throw;
    return there->etag;
  }
}

std::string Objects::Put(const Name& name, const Spool* file, const Condition& condition) const {
  const auto put = [&](const Parameters& headers) {
    Call call = {"PUT", name, {}, headers};
    call.body.file = file;
    // Of two directories with the same marker nobody can tell who made them.
    call.idempotent = file != nullptr || headers.empty();
    return NewETag(s3_.Send(call));
  };
  return Conditionally(name, condition, put, [file](const Version& there) {
    return file != nullptr && there.size == file->size() && IsOf(there.checksum, *file);
  });
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

Parameters CopyHeaders(const Name& source, const Version& version) {
  return {{"x-amz-copy-source", "/" + Encoded(source.bucket) + "/" + Encoded(source.key, true)},
          {"x-amz-copy-source-if-match", version.etag}};
}

std::string CopiedETag(const Response& response, const char* document) {
  // A copy takes its time, so a store may say 200 first and an error in the end.
  if (!Is(response, 200)) throw Refusal(response);
  return ElementText(response.body, document, "ETag");
}

void Objects::Copy(const Name& source, const Version& version, const Name& target) const {
  if (version.size > copy_part_bytes_) {
    Multipart parts(*this, target);
    parts.Copy(source, version);
    parts.Finish({});
    return;
  }
  const Metadata::Change change(metadata_, target);
  CopiedETag(s3_.Send({"PUT", target, {}, CopyHeaders(source, version)}), "CopyObjectResult");
}

}  // namespace objectstore
