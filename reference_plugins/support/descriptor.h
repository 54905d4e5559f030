// A file descriptor that closes itself.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_DESCRIPTOR_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_DESCRIPTOR_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace support {

class Descriptor {
 public:
  // Takes over `number`, which is -1 where there is nothing to close.
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept {
    Close();
    number_ = other.Release();
    return *this;
  }

  // openat(2), again after a signal. The file does not leak into programs that the process starts,
  // and nobody waits for the other end of a pipe. On failure the result is not open, and errno says
  // why.
  static Descriptor Open(const char* path, int flags, int directory = AT_FDCWD) {
    int number;
    do {
      number = openat(directory, path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    } while (number < 0 && errno == EINTR);
    return Descriptor(number);
  }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }

  int Release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

  // Closes, and gives 0 or the errno value. The descriptor is gone in either case: on Linux,
  // close(2) must not be tried again.
  int Close() {
    if (number_ < 0) return 0;
    return close(Release()) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int number_;
};

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_DESCRIPTOR_H_
