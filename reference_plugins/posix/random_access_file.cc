// Files to read. One file may serve many threads at once: a read keeps no position and changes
// nothing.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "files.h"
#include "support/descriptor.h"
#include "support/status.h"
#include "tables.h"

namespace posix {
namespace {

struct RandomAccessFile {
  std::string path;  // for messages
  support::Descriptor descriptor;
};

RandomAccessFile* Get(const TF_RandomAccessFile* file) {
  return static_cast<RandomAccessFile*>(file->plugin_file);
}

void Cleanup(TF_RandomAccessFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) noexcept {
  constexpr uint64_t kEnd = INT64_MAX;  // no file is longer: off_t cannot say more
  constexpr uint64_t kMost = INT_MAX;   // one pread(2) transfers no more than about this
  const RandomAccessFile* self = Get(file);
  size_t done = 0;
  while (done < n && offset < kEnd && done < kEnd - offset) {
    const uint64_t at = offset + done;
    const size_t wanted = static_cast<size_t>(std::min({uint64_t{n - done}, kMost, kEnd - at}));
    const ssize_t got =
        pread(self->descriptor.get(), buffer + done, wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      support::SetErrno(status, errno, self->path.c_str());
      return -1;
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  // The end of the file is no failure: the bytes in front of it count, and the code tells the
  // reader to stop.
  if (done < n) {
    support::SetError(status, TF_OUT_OF_RANGE, self->path.c_str(),
                      "the file ends before the bytes asked for");
  } else {
    support::SetOk(status);
  }
  return static_cast<int64_t>(done);
}

}  // namespace

support::Descriptor OpenFile(const char* path, int flags, struct stat* facts, TF_Status* status) {
  support::Descriptor descriptor = support::Descriptor::Open(path, flags);
  if (!descriptor.is_open() || fstat(descriptor.get(), facts) != 0) {
    // A pipe that nobody reads, or a socket.
    if (errno == ENXIO) {
      support::SetError(status, TF_FAILED_PRECONDITION, path, "not a file");
    } else {
      support::SetErrno(status, errno, path);
    }
    descriptor.Close();
  } else if (S_ISDIR(facts->st_mode)) {
    // open(2) has nothing against reading a directory; the contract has.
    support::SetErrno(status, EISDIR, path);
    descriptor.Close();
  } else if (S_ISFIFO(facts->st_mode)) {
    support::SetError(status, TF_FAILED_PRECONDITION, path, "a pipe is no file");
    descriptor.Close();
  }
  return descriptor;
}

void NewRandomAccessFile(const TF_Filesystem*, const char* path, TF_RandomAccessFile* file,
                         TF_Status* status) noexcept {
  support::Guarded(status, path, [&] {
    struct stat facts;
    support::Descriptor descriptor = OpenFile(path, O_RDONLY, &facts, status);
    if (!descriptor.is_open()) return;
    file->plugin_file = new RandomAccessFile{path, std::move(descriptor)};
    support::SetOk(status);
  });
}

TF_RandomAccessFileOps RandomAccessFileOps() {
  TF_RandomAccessFileOps ops = {};
  ops.cleanup = Cleanup;
  ops.read = Read;
  return ops;
}

}  // namespace posix
