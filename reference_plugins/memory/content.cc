#include "content.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

namespace memory {
namespace {

// Whoever computes on a region finds it on the boundary that the widest vector instructions like.
constexpr std::align_val_t kAlignment{64};

constexpr size_t kMost = std::numeric_limits<int64_t>::max();

// A larger block with the same bytes, and n more that are the caller's. At least twice as large, so
// that a file that grows piece by piece is not copied once for each piece.
std::shared_ptr<Block> Grown(const Bytes& bytes, size_t n) {
  if (n > kMost - bytes.size) throw std::bad_alloc();
  const size_t needed = bytes.size + n;
  std::shared_ptr<Block> grown;
  try {
    grown = std::make_shared<Block>(std::max(needed, 2 * bytes.size), needed);
  } catch (const std::bad_alloc&) {
    grown = std::make_shared<Block>(needed, needed);
  }
  if (bytes.size > 0) std::memcpy(grown->data(), bytes.data(), bytes.size);
  return grown;
}

}  // namespace

int64_t Now() noexcept {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

bool Space::Take(size_t n) noexcept {
  const int64_t capacity = capacity_;
  const uint64_t most = capacity < 0 ? kMost : static_cast<uint64_t>(capacity);
  uint64_t taken = taken_;
  do {
    if (taken > most || n > most - taken) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + n));
  return true;
}

Block::Block(size_t capacity, size_t claimed)
    : capacity_(capacity),
      claimed_(claimed),
      data_(static_cast<char*>(::operator new(capacity, kAlignment))) {}

Block::~Block() { ::operator delete(data_, kAlignment); }

bool Block::Claim(size_t used, size_t n) noexcept {
  return n <= capacity_ - used && claimed_.compare_exchange_strong(used, used + n);
}

Bytes Content::bytes() const {
  const std::lock_guard<std::mutex> lock(space_->published.mutex);
  return bytes_;
}

size_t Content::size() const {
  const std::lock_guard<std::mutex> lock(space_->published.mutex);
  return bytes_.size;
}

int64_t Content::changed() const {
  const std::lock_guard<std::mutex> lock(space_->published.mutex);
  return changed_;
}

int Content::Append(const char* buffer, size_t n, size_t* size) {
  const std::lock_guard<std::mutex> one_at_a_time(space_->AppendingTo(this));
  Bytes bytes = this->bytes();
  *size = bytes.size;
  if (n == 0) return 0;
  if (!space_->Take(n)) return ENOSPC;
  if (bytes.block == nullptr || !bytes.block->Claim(bytes.size, n)) {
    try {
      bytes.block = Grown(bytes, n);
    } catch (const std::bad_alloc&) {
      space_->GiveBack(n);
      return ENOSPC;
    }
  }
  // Nobody looks behind the size that is published, so this disturbs nobody.
  std::memcpy(bytes.block->data() + bytes.size, buffer, n);
  bytes.size += n;
  *size = bytes.size;
  const std::lock_guard<std::mutex> lock(space_->published.mutex);
  bytes_.block.swap(bytes.block);  // the old one goes when the lock is gone
  bytes_.size = bytes.size;
  changed_ = Now();
  return 0;
}

std::shared_ptr<Content> Content::Fork(int64_t changed) const {
  auto fork = std::make_shared<Content>(space_);
  const Bytes bytes = this->bytes();
  if (!space_->Take(bytes.size)) return nullptr;
  fork->bytes_ = bytes;
  fork->changed_ = changed;
  return fork;
}

}  // namespace memory
