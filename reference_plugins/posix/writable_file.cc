// Files to write. Every append reaches the kernel before it answers, so readers see it at once, and
// nothing is lost when a file is dropped without a close.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "durable.h"
#include "files.h"
#include "support/descriptor.h"
#include "support/status.h"
#include "tables.h"

namespace posix {
namespace {

struct WritableFile {
  std::string path;  // for messages
  support::Descriptor descriptor;
  bool named = false;  // whether the entry of its directory is durable
  int lost = 0;        // what fsync(2) said when bytes were lost. Linux says it once
};

WritableFile* Get(const TF_WritableFile* file) {
  return static_cast<WritableFile*>(file->plugin_file);
}

void Cleanup(TF_WritableFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  const WritableFile* self = Get(file);
  size_t done = 0;
  while (done < n) {
    // One write(2) takes what it likes, at most 2 GiB; the loop brings the rest.
    const ssize_t taken = write(self->descriptor.get(), buffer + done, n - done);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) {
      // A file that may not grow is a matter of space, as a full disk is.
      return support::SetErrno(status, errno == EFBIG ? ENOSPC : errno, self->path.c_str());
    }
    done += static_cast<size_t>(taken);
  }
  support::SetOk(status);
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  const WritableFile* self = Get(file);
  const off_t position = lseek(self->descriptor.get(), 0, SEEK_CUR);
  if (position < 0) {
    support::SetErrno(status, errno, self->path.c_str());
    return -1;
  }
  support::SetOk(status);
  return position;
}

void Flush(const TF_WritableFile* file, TF_Status* status) noexcept {
  const WritableFile* self = Get(file);
  if (!self->descriptor.is_open()) return support::SetErrno(status, EBADF, self->path.c_str());
  support::SetOk(status);
}

void Sync(const TF_WritableFile* file, TF_Status* status) noexcept {
  WritableFile* self = Get(file);
  support::Guarded(status, self->path.c_str(), [&] {
    if (self->lost == 0) self->lost = Persist(self->descriptor);
    int error = self->lost;
    if (error == 0 && !self->named) error = PersistName(self->descriptor, self->path);
    self->named = error == 0;
    support::SetErrno(status, error, self->path.c_str());
  });
}

// Gives the descriptor back, and keeps the object: TensorFlow calls cleanup too.
void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  WritableFile* self = Get(file);
  int error = self->descriptor.Close();
  if (error == 0) error = self->lost;
  if (error != 0) return support::SetErrno(status, error, self->path.c_str());
  support::SetOk(status);
}

void Open(const char* path, int flags, TF_WritableFile* file, TF_Status* status) noexcept {
  support::Guarded(status, path, [&] {
    struct stat facts;
    support::Descriptor descriptor = OpenFile(path, flags | O_WRONLY | O_CREAT, &facts, status);
    if (!descriptor.is_open()) return;
    // A position before the first append counts from the start of the file; only what has no
    // positions, such as a terminal, has none.
    if ((flags & O_APPEND) != 0 && lseek(descriptor.get(), 0, SEEK_END) < 0 && errno != ESPIPE) {
      return support::SetErrno(status, errno, path);
    }
    file->plugin_file = new WritableFile{path, std::move(descriptor)};
    support::SetOk(status);
  });
}

}  // namespace

// Emptied as it is opened: a reader that comes now finds no bytes of the old file.
void NewWritableFile(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  Open(path, O_TRUNC, file, status);
}

void NewAppendableFile(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept {
  Open(path, O_APPEND, file, status);
}

TF_WritableFileOps WritableFileOps() {
  TF_WritableFileOps ops = {};
  ops.cleanup = Cleanup;
  ops.append = Append;
  ops.tell = Tell;
  ops.flush = Flush;
  ops.sync = Sync;
  ops.close = Close;
  return ops;
}

}  // namespace posix
