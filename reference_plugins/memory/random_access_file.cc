// Files to read.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "content.h"
#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {
namespace {

struct RandomAccessFile {
  std::string path;  // for messages
  std::shared_ptr<Content> content;
  // What was there when it was opened. It stays as it is, so most reads need no lock.
  Bytes opened;
};

RandomAccessFile* ReaderOf(const TF_RandomAccessFile* file) {
  return static_cast<RandomAccessFile*>(file->plugin_file);
}

void Cleanup(TF_RandomAccessFile* file) noexcept {
  delete ReaderOf(file);
  file->plugin_file = nullptr;
}

// Copies up to n bytes, straight to where they are wanted, and gives their number.
size_t CopyBytes(const Bytes& bytes, uint64_t offset, size_t n, char* buffer) {
  if (offset >= bytes.size) return 0;
  if (n > bytes.size - offset) n = bytes.size - static_cast<size_t>(offset);
  std::memcpy(buffer, bytes.data() + offset, n);
  return n;
}

int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) noexcept {
  const RandomAccessFile* self = ReaderOf(file);
  const uint64_t known = self->opened.size;
  size_t done = 0;
  if (n > 0 && offset < known && n <= known - offset) {
    done = CopyBytes(self->opened, offset, n, buffer);
  } else if (n > 0) {
    // The file may have grown since.
    done = CopyBytes(self->content->bytes(), offset, n, buffer);
  }
  if (done < n) {
    support::SetError(status, TF_OUT_OF_RANGE, self->path.c_str(),
                      "the file ends before the bytes asked for");
  } else {
    support::SetOk(status);
  }
  return static_cast<int64_t>(done);
}

}  // namespace

void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).ReachFile(at, &entry);
    if (error == 0) {
      file->plugin_file = new RandomAccessFile{path, entry->content, entry->content->bytes()};
    }
    return error;
  });
}

TF_RandomAccessFileOps RandomAccessFileOps() {
  TF_RandomAccessFileOps ops = {};
  ops.cleanup = Cleanup;
  ops.read = Read;
  return ops;
}

}  // namespace memory
