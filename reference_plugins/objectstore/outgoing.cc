#include "outgoing.h"

#include <algorithm>
#include <utility>

namespace objectstore {
namespace {

// Of part number `number`, from 0 on. S3 takes so many that they have to grow.
constexpr uint64_t SizeOf(uint64_t number) {
  constexpr uint64_t kAlike = 1500;
  return Objects::kMostAtOnce << (number / kAlike);
}

constexpr uint64_t SizeOfAll() {
  uint64_t size = 0;
  for (uint64_t number = 0; number < Multipart::kMostParts; ++number) size += SizeOf(number);
  return size;
}

static_assert(SizeOfAll() > uint64_t{5} << 40, "the largest object that S3 takes");

}  // namespace

Outgoing::Outgoing(Filesystem& filesystem, Name name)
    : filesystem_(filesystem), name_(std::move(name)) {
  NewPart();
}

void Outgoing::NewPart() {
  auto part = std::make_shared<Part>();
  part->file = filesystem_.NewSpool();
  part_ = std::move(part);
}

void Outgoing::GoOnBehind(const Version& version) {
  if (version.size > Objects::kMostAtOnce) {
    base_ = version;
    before_ = version.size;
    return;
  }
  const Content old = filesystem_.Fetch(name_, version);
  std::vector<char> block(1 << 20);
  while (size() < old->size()) {
    Append(block.data(), old->Read(size(), block.size(), block.data()));
  }
}

void Outgoing::Append(const char* data, size_t n) {
  constexpr uint64_t kRoom = 1 << 20;
  // What went wrong meanwhile is told now.
  if (has_begun()) parts_->Settle(parts_->count());
  while (n > 0) {
    const uint64_t most = SizeOf(has_begun() ? parts_->count() : 0);
    if (part_->file->size() >= most) {
      SendPart();
      continue;
    }
    const uint64_t size = part_->file->size();
    const auto taken = static_cast<size_t>(std::min<uint64_t>(n, most - size));
    while (part_->room.size() * kRoom < size + taken) {
      part_->room.push_back(filesystem_.cache.Reserve(kRoom));
    }
    part_->file->Append(data, taken);
    data += taken;
    n -= taken;
  }
}

void Outgoing::Begin() {
  if (has_begun()) return;
  parts_ = std::make_unique<Multipart>(filesystem_.objects, name_);
  if (base_) parts_->Copy(name_, *base_);
}

void Outgoing::SendPart() {
  constexpr uint64_t kMostBytes = 192 << 20;
  Begin();
  before_ = size();
  parts_->Send({part_, part_->file.get()});
  part_.reset();
  // So that there is room for the next.
  const uint64_t most = kMostBytes / SizeOf(parts_->count());
  parts_->Settle(std::max<uint64_t>(most, 2) - 1);
  NewPart();
}

std::string Outgoing::Put(const Condition& condition) {
  if (!has_begun() && !base_) return filesystem_.objects.Put(name_, part_->file.get(), condition);
  Begin();
  if (part_->file->size() > 0) SendPart();
  // Not every store compares what it copies with the ETag that is asked for.
  base_ = Version{parts_->Finish(base_ ? Condition{false, base_->etag} : condition), size()};
  parts_.reset();
  return base_->etag;
}

}  // namespace objectstore
