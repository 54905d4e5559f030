#include "multipart.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "answers.h"
#include "documents.h"
#include "text.h"

namespace objectstore {
namespace {

void Demand(uint64_t parts) {
  if (parts > Multipart::kMostParts) {
    throw Failure(TF_RESOURCE_EXHAUSTED, "an object has 10,000 parts at most");
  }
}

// What a store makes of the ETags of parts that are MD5s: the MD5 of those, and their number.
// Nothing where they are none.
std::string ETagOf(const std::vector<std::string>& parts) {
  std::string sums;
  for (const std::string& part : parts) {
    const std::string hex = Bare(part);
    if (!LooksLikeMd5(hex)) return "";
    for (size_t k = 0; k < hex.size(); k += 2) {
      sums += static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16));
    }
  }
  return HasMd5() ? Hex(Md5(sums)) + "-" + std::to_string(parts.size()) : "";
}

}  // namespace

Multipart::Multipart(const Objects& objects, Name name)
    : objects_(objects), name_(std::move(name)) {
  // Two tries may start two uploads; one without parts costs nobody anything.
  const Response started = objects_.s3_.Send({"POST", name_, {{"uploads", ""}}});
  if (!Is(started, 200)) throw Refusal(started);
  id_ = ElementText(started.body, "InitiateMultipartUploadResult", "UploadId");
  Enter();
}

Multipart::~Multipart() {
  Leave();
  under_way_.clear();
  if (finished_) return;
  const Op patient;
  try {
    objects_.s3_.Send({"DELETE", name_, {{"uploadId", id_}}});
  } catch (...) {
    // The parts stay until somebody tidies the store up; what went wrong first is the news.
  }
}

void Multipart::Stop() {
  recall_.Call();
  for (const UnderWay& part : under_way_) part.etag.wait();
}

void Multipart::Begin(uint64_t size, SendPart send) {
  // More would not be faster on most networks, and would leave less to other ops.
  constexpr size_t kAtOnce = 4;
  Settle(kAtOnce - 1);
  Demand(count() + 1);
  size_ += size;
  etags_.emplace_back();
  const Parameters query = {{"partNumber", std::to_string(etags_.size())}, {"uploadId", id_}};
  auto work = [this, query, send = std::move(send)]() mutable {
    // What it sends is let go of when it is there, and not when somebody asks.
    const SendPart own = std::move(send);
    const Op patient(&recall_);
    return own(query);
  };
  // Where no thread can be had, it is sent when it is waited for.
  under_way_.push_back({etags_.size() - 1, Undisturbed([&] {
                          return std::async(std::launch::async | std::launch::deferred,
                                            std::move(work));
                        })});
}

void Multipart::Settle(size_t most) {
  // Those that ended, and in front of them as many as are too many.
  for (auto part = under_way_.begin(); part != under_way_.end();) {
    const bool waits = under_way_.size() > most;
    if (!waits && part->etag.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) {
      ++part;
      continue;
    }
    UnderWay ended = std::move(*part);
    part = under_way_.erase(part);
    etags_[ended.number] = ended.etag.get();
  }
}

void Multipart::Send(std::shared_ptr<const Spool> file) {
  const uint64_t size = file->size();
  Begin(size, [this, file = std::move(file)](const Parameters& query) {
    Call call = {"PUT", name_, query};
    call.body.file = file.get();
    return NewETag(objects_.s3_.Send(call));
  });
}

void Multipart::Copy(const Name& source, const Version& version) {
  constexpr uint64_t kMostOfPart = uint64_t{1} << 30;  // several at the same time are faster
  const uint64_t most = std::min(objects_.copy_part_bytes_, kMostOfPart);
  // All of about the same size: each that others follow has to have 5 MiB.
  const uint64_t pieces = (version.size + most - 1) / most;
  Demand(count() + pieces);
  for (uint64_t k = 0; k < pieces; ++k) {
    const uint64_t first = version.size * k / pieces;
    const uint64_t end = version.size * (k + 1) / pieces;
    Call call = {"PUT", name_, {}, CopyHeaders(source, version)};
    call.headers["x-amz-copy-source-range"] =
        "bytes=" + std::to_string(first) + "-" + std::to_string(end - 1);
    Begin(end - first, [this, call, source, etag = version.etag](const Parameters& query) {
      Call part = call;
      part.query = query;
      const Response copied = objects_.s3_.Send(part);
      // A store may look whether there is such a range before it looks at the condition.
      if (copied.status == 400 || copied.status == 416) {
        const auto now = objects_.Head(source);
        if (now && now->etag != etag) {
          throw Failure(TF_ABORTED, "somebody else changed the object");
        }
      }
      return CopiedETag(copied, "CopyPartResult");
    });
  }
}

std::string Multipart::Finish(const Condition& condition) {
  Settle(0);
  const auto send = [this](const Parameters& headers) {
    Call finish = {"POST", name_, {{"uploadId", id_}}, headers};
    finish.body.text = PartList(etags_);
    const Response finished = objects_.s3_.Send(finish);
    // The store may need long to put the parts together, say 200 first, and an error in the end.
    if (!Is(finished, 200)) throw Refusal(finished);
    return Strong(ElementText(finished.body, "CompleteMultipartUploadResult", "ETag"));
  };
  const auto is_it = [this](const Version& there) {
    return there.size == size_ && Bare(there.etag) == ETagOf(etags_);
  };
  std::string etag = objects_.Conditionally(name_, condition, send, is_it);
  finished_ = true;
  return etag;
}

}  // namespace objectstore
