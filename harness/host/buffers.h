// Memory that shows what a plugin does to it: buffers between unreadable pages, and arguments that
// are checked and spoilt.
#ifndef TFFS_HOST_BUFFERS_H_
#define TFFS_HOST_BUFFERS_H_

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

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

// A buffer that starts right behind an unreadable page and ends in a canary before another one.
// The mapping is kept between calls and grows as needed.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  // `size` bytes of poison with a fresh canary behind; nullptr where there is no memory for it.
  char* Prepare(size_t size);
  // Whether the canary behind the buffer is as it was.
  bool Intact() const;

 private:
  void Release();

  char* mapping_ = nullptr;
  size_t mapped_ = 0;  // bytes, both unreadable pages included
  size_t size_ = 0;
};

// A NUL-terminated copy of an argument on the heap, exactly as long as it has to be. When it goes,
// it is overwritten, so that a plugin that kept the pointer meets junk.
class Argument {
 public:
  explicit Argument(std::string_view text);
  ~Argument();
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  char* get() { return block_.data(); }
  // Whether the plugin wrote to it.
  bool Changed() const;

 private:
  const std::string_view original_;
  std::vector<char> block_;
};

}  // namespace tffs

#endif  // TFFS_HOST_BUFFERS_H_
