#include "sink.h"

#include <utility>

namespace dragonfly {

Sink::Sink(Spool* spool, uint64_t length, Checksum checksum)
    : spool_(spool), length_(length), checksum_(std::move(checksum)), adder_(checksum_.sum) {}

void Sink::Clear() {
  spool_->Clear();
  adder_ = Adder(checksum_.sum);
  too_long_ = false;
}

bool Sink::Take(const char* data, size_t n) {
  too_long_ = too_long_ || n > length_ - spool_->size();
  if (too_long_) return false;
  spool_->Append(data, n);
  adder_.Add(data, n);
  return true;
}

const char* Sink::Fault() {
  if (too_long_ || spool_->size() != length_) return "the bytes are not as many as the object has";
  if (adder_.Text() != checksum_.text) return "the bytes do not add up to the object's checksum";
  return nullptr;
}

}  // namespace dragonfly
