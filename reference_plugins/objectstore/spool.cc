#include "spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "failure.h"

namespace objectstore {
namespace {

[[noreturn]] void Refuse(const char* what, int error) {
  const bool full =
      error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE || error == ENFILE;
  throw Failure(full ? TF_RESOURCE_EXHAUSTED : TF_INTERNAL,
                std::string(what) + ": " + std::strerror(error));
}

// Whether what failed for want of room may be tried again.
bool HasRoomNow(int error, const Spool::MakeRoom& make_room) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE;
  return is_full && make_room != nullptr && make_room(std::strerror(error));
}

support::Descriptor Unnamed(const std::string& directory, const Spool::MakeRoom& make_room) {
  const int number = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (number >= 0) return support::Descriptor(number);
  if (HasRoomNow(errno, make_room)) return Unnamed(directory, make_room);
  // Not every filesystem has files without a name.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    Refuse("no temporary file in cache_dir", errno);
  }
  std::string name = directory + "/objects-XXXXXX";
  support::Descriptor descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!descriptor.is_open()) Refuse("no temporary file in cache_dir", errno);
  unlink(name.c_str());
  return descriptor;
}

}  // namespace

Spool::Spool(const std::string& directory, MakeRoom make_room)
    : make_room_(std::move(make_room)), descriptor_(Unnamed(directory, make_room_)) {}

void Spool::Append(const char* data, size_t n) {
  size_t done = 0;
  while (done < n) {
    const ssize_t taken =
        pwrite(descriptor(), data + done, n - done, static_cast<off_t>(size_ + done));
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && HasRoomNow(errno, make_room_)) continue;
    if (taken < 0) Refuse("cache_dir takes no more", errno);
    done += static_cast<size_t>(taken);
  }
  size_ += n;
}

size_t Spool::Read(uint64_t offset, size_t n, char* buffer) const {
  const uint64_t size = size_;
  if (offset >= size) return 0;
  n = static_cast<size_t>(std::min<uint64_t>(n, size - offset));
  size_t done = 0;
  while (done < n) {
    const size_t wanted = std::min<size_t>(n - done, INT_MAX);
    const ssize_t got =
        pread(descriptor(), buffer + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Refuse("the temporary file cannot be read back", got == 0 ? EIO : errno);
    done += static_cast<size_t>(got);
  }
  return done;
}

void Spool::Clear() {
  if (ftruncate(descriptor(), 0) != 0) Refuse("the temporary file cannot be emptied", errno);
  size_ = 0;
}

}  // namespace objectstore
