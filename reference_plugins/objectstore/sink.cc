#include "sink.h"

#include <algorithm>

#include "patience.h"

namespace objectstore {
namespace {

// A transfer that got so far since its last failure is worth the whole time for trying again.
constexpr uint64_t kProgress = 8 << 20;

// libcurl hands out 16 KiB at a time, for which a file system takes far longer than for as much of
// a block.
constexpr size_t kBlock = 512 << 10;

}  // namespace

Sink::Sink(Spool* spool, Span span, Checksum checksum, Audience* audience)
    : spool_(spool),
      span_(span),
      checksum_(std::move(checksum)),
      audience_(audience),
      adder_(checksum_.sum) {}

bool Sink::Clear() {
  if (audience_ != nullptr && !audience_->MayForget()) return false;
  spool_->Clear();
  block_.clear();
  adder_ = Adder(checksum_.sum);
  renewed_ = 0;
  too_long_ = false;
  return true;
}

std::string Sink::Ask() {
  block_.clear();  // what the spool did not take comes again
  had_ = spool_->size();
  // Where all of it is there, the last byte is asked for again: the answer tells whether it stands.
  from_ = std::min(had_, span_.length - 1);
  if (span_.is_all() && from_ == 0) return asked_ = "";
  asked_ =
      std::to_string(span_.first + from_) + "-" + std::to_string(span_.first + span_.length - 1);
  return "bytes=" + asked_;
}

std::optional<uint64_t> Sink::Known(const Response& response) const {
  const std::string got = response.Header("content-range");
  if (asked_.empty()) {
    return response.status == 200 && got.empty() ? std::optional(had_) : std::nullopt;
  }
  // There are proxies that answer 200 with a range.
  if (response.status != 206 && response.status != 200) return std::nullopt;
  if (got == "bytes " + asked_ + "/" + std::to_string(span_.total)) return had_ - from_;
  // Who knows no ranges sends all.
  if (response.status == 200 && got.empty() && span_.is_all()) return had_;
  return std::nullopt;
}

bool Sink::Fits(const Response& response) const {
  if (!Known(response)) return false;
  if (demand_) demand_(response);
  return true;
}

bool Sink::Begin(const Response& response) {
  if (!Fits(response)) return false;
  to_skip_ = *Known(response);
  return true;
}

bool Sink::Take(const char* data, size_t n) {
  const auto known = static_cast<size_t>(std::min<uint64_t>(n, to_skip_));
  to_skip_ -= known;
  data += known;
  n -= known;
  too_long_ = too_long_ || n > span_.length - spool_->size() - block_.size();
  if (too_long_) return false;
  block_.append(data, n);
  if (block_.size() >= kBlock) Flush();
  return true;
}

void Sink::Flush() {
  if (block_.empty()) return;
  spool_->Append(block_.data(), block_.size());
  adder_.Add(block_.data(), block_.size());
  if (counter_ != nullptr) *counter_ += block_.size();
  block_.clear();
  if (spool_->size() - renewed_ >= kProgress) {
    renewed_ = spool_->size();
    RenewPatience();
  }
  if (audience_ != nullptr) audience_->Grew();
}

const char* Sink::Fault() {
  if (too_long_ || spool_->size() != span_.length) {
    return "the bytes are not as many as the object has";
  }
  if (span_.is_all() && adder_.Text() != checksum_.text) {
    return "the bytes do not add up to the object's checksum";
  }
  return nullptr;
}

}  // namespace objectstore
