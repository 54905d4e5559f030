// A read of more bytes than a frame of the wire, or a number of 31 bits, holds: the client asks for
// some of them only.
#include <sys/mman.h>

#include <algorithm>

#include "host.h"

namespace tffs {
namespace {

// `size` bytes of zeros.
class Mapping {
 public:
  explicit Mapping(size_t size)
      : size_(size),
        begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin_ == MAP_FAILED) throw Lacking("there is no memory for a buffer of that size");
  }
  ~Mapping() { munmap(begin_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* begin() { return static_cast<char*>(begin_); }
  // What is there, as far as it is inside.
  std::string_view At(size_t offset, size_t n) {
    const size_t from = std::min(offset, size_);
    return {begin() + from, std::min(n, size_ - from)};
  }

 private:
  const size_t size_;
  void* const begin_;
};

}  // namespace

Reply Host::ReadLarge(Request& request) {
  auto& file = Find(readers_, request);
  const uint64_t offset = request.TakeUnsigned();
  const size_t n = request.TakeUnsigned();
  const auto function = Present(file.filesystem->random_access.read);
  Mapping buffer(n);
  const StatusPointer status = FreshStatus();
  const int64_t returned = function(&file.object, offset, n, buffer.begin(), status.get());
  Reply reply = std::move(Answer(status.get()).Integer(returned));
  while (!request.AtEnd()) {
    const size_t place = request.TakeUnsigned();
    reply.Bytes(buffer.At(place, request.TakeUnsigned()));
  }
  return reply;
}

}  // namespace tffs
