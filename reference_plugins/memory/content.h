// The bytes of a file.
//
// A file only ever grows: whoever writes it anew makes a new content. So bytes that were there once
// stay as they are, and everybody may read them, without a copy and without a lock, for as long as
// he holds their block.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_CONTENT_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_CONTENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "support/forks.h"

namespace memory {

class Content;

// Nanoseconds since the epoch.
int64_t Now() noexcept;

// A lock that is free in a child of fork.
struct Lock {
  std::mutex mutex;
  const support::ForkGuard forks{mutex, [] {}};
};

// What the files of one filesystem have in common: how many bytes they may hold together, and their
// locks, of which there are a few, whatever the number of files.
class Space {
 public:
  static constexpr int64_t kUnlimited = -1;

  void Limit(int64_t capacity) noexcept { capacity_ = capacity; }
  // Whether there was room for n bytes more, which are taken now.
  bool Take(size_t n) noexcept;
  void GiveBack(size_t n) noexcept { taken_ -= n; }

  // Held for a few instructions, by whoever looks at what a file has or puts it there.
  Lock published;
  // Held while bytes are copied, by whoever appends to the file; readers do not wait for it.
  std::mutex& AppendingTo(const Content* content) {
    return appending_[reinterpret_cast<uintptr_t>(content) / sizeof(void*) / 8 % kLanes].mutex;
  }

 private:
  static constexpr size_t kLanes = 16;

  std::atomic<int64_t> capacity_{kUnlimited};
  std::atomic<uint64_t> taken_{0};
  std::array<Lock, kLanes> appending_;
};

// Memory that is filled from the front to the back.
class Block {
 public:
  // `claimed` bytes at the front are the maker's. Throws std::bad_alloc.
  Block(size_t capacity, size_t claimed);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data() { return data_; }
  const char* data() const { return data_; }

  // Whether the n bytes behind the first `used` are the caller's now. They are not where the block
  // is full, or where another file, which shares the first ones, took them.
  bool Claim(size_t used, size_t n) noexcept;

 private:
  const size_t capacity_;
  std::atomic<size_t> claimed_;
  char* const data_;
};

// Bytes that nobody changes.
struct Bytes {
  std::shared_ptr<Block> block;  // none where there are no bytes
  size_t size = 0;

  const char* data() const { return block == nullptr ? nullptr : block->data(); }
};

// The bytes of a file as they are at the moment. Any number of threads may use it.
class Content {
 public:
  explicit Content(std::shared_ptr<Space> space) : space_(std::move(space)) {}
  ~Content() { space_->GiveBack(bytes_.size); }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  Bytes bytes() const;
  size_t size() const;
  int64_t changed() const;  // nanoseconds since the epoch

  // All n bytes or, where there is no room for them, none: then it gives ENOSPC, otherwise 0, and
  // the length of the file in `size`.
  int Append(const char* buffer, size_t n, size_t* size);

  // Another file with the same bytes, changed at that time. They share them until one of them
  // grows. NULL where there is no room.
  std::shared_ptr<Content> Fork(int64_t changed) const;

 private:
  const std::shared_ptr<Space> space_;
  // What the lock `published` guards.
  Bytes bytes_;
  int64_t changed_ = Now();
};

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_CONTENT_H_
