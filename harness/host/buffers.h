// Memory that shows what a plugin does to it: buffers between unreadable pages, and arguments that
// are checked and spoilt.
#ifndef TFFS_HOST_BUFFERS_H_
#define TFFS_HOST_BUFFERS_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace tffs {

// Fills statistics, counters and buffers before the plugin gets them.
constexpr unsigned char kPoison = 0xA5;

// A result of poison, so that what the plugin did not write is seen.
template <typename T>
T Poisoned() {
  T value;
  std::memset(static_cast<void*>(&value), kPoison, sizeof value);
  return value;
}

// A buffer between two unreadable pages, each as near as it can be. The mapping is kept between
// calls and grows as needed.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  // For a plugin that writes: `size` bytes of poison right behind a page, and from there to the
  // page behind a canary of at least 64 bytes. nullptr where there is no memory for it.
  char* ForWriting(size_t size);
  // Whether the canary is as it was.
  bool Intact() const;

  // For a plugin that reads: a copy of `data` that ends where the page behind begins. nullptr where
  // there is no memory for it.
  char* ForReading(std::string_view data);
  // The copy is overwritten: what was handed over may be used for something else.
  void Spoil();

 private:
  // Makes `inside` bytes usable, whole pages, with an unreadable page on either side.
  bool Open(size_t inside);
  void Release();

  char* mapping_ = nullptr;
  size_t mapped_ = 0;  // bytes, both unreadable pages included
  size_t open_ = 0;    // bytes that can be used, behind the first page
  size_t size_ = 0;
};

// A NUL-terminated copy of an argument in a block of its own, not one byte longer than it has to
// be: a sanitizer sees who reads on. When it goes, it is overwritten, so that a plugin that kept
// the pointer meets junk.
class Argument {
 public:
  explicit Argument(std::string_view text);
  ~Argument();
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  char* get() { return block_.get(); }
  // Whether the plugin wrote to it.
  bool Changed() const;

 private:
  const std::string_view original_;
  const std::unique_ptr<char[]> block_;
};

}  // namespace tffs

#endif  // TFFS_HOST_BUFFERS_H_
