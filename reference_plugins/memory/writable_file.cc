// Files to write. There is no buffer in front of the file: what was appended is there.

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "content.h"
#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {
namespace {

// Used by one thread at a time, as TensorFlow promises.
struct WritableFile {
  std::string path;                  // for messages
  std::shared_ptr<Content> content;  // none once it is closed
  size_t position;
};

WritableFile* WriterOf(const TF_WritableFile* file) {
  return static_cast<WritableFile*>(file->plugin_file);
}

void Cleanup(TF_WritableFile* file) noexcept {
  delete WriterOf(file);
  file->plugin_file = nullptr;
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  WritableFile* self = WriterOf(file);
  support::Guarded(status, self->path.c_str(), [&] {
    const int error =
        self->content == nullptr ? EBADF : self->content->Append(buffer, n, &self->position);
    support::SetErrno(status, error, self->path.c_str());
  });
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  const WritableFile* self = WriterOf(file);
  support::SetErrno(status, self->content == nullptr ? EBADF : 0, self->path.c_str());
  return self->content == nullptr ? -1 : static_cast<int64_t>(self->position);
}

// There is nothing behind memory: sync is no more than flush.
void Flush(const TF_WritableFile* file, TF_Status* status) noexcept {
  const WritableFile* self = WriterOf(file);
  support::SetErrno(status, self->content == nullptr ? EBADF : 0, self->path.c_str());
}

// Lets go of the file, and keeps the object: TensorFlow calls cleanup too.
void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  WritableFile* self = WriterOf(file);
  support::SetErrno(status, self->content == nullptr ? EBADF : 0, self->path.c_str());
  self->content.reset();
}

void Open(const TF_Filesystem* filesystem, const char* path, bool anew, TF_WritableFile* file,
          TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    View view(state, at);
    const Entry* entry = nullptr;
    int error = view.ReachFile(at, &entry);
    if (error == ENOENT) error = view.HasRoom(at);
    if (error != 0) return error;
    std::shared_ptr<Content> content;
    const bool is_new = anew || entry == nullptr;
    if (is_new) {
      content = std::make_shared<Content>(state.space);
    } else if (view.IsOwn(at)) {
      content = entry->content;
    } else {
      // In a transaction: others see the file as it is until the end.
      content = entry->content->Fork(entry->content->changed());
      if (content == nullptr) return ENOSPC;
    }
    auto opened = std::make_unique<WritableFile>(WritableFile{path, content, content->size()});
    if (is_new || content != entry->content) view.Put(at, content);
    file->plugin_file = opened.release();
    return 0;
  });
}

}  // namespace

// Whoever has the old file open keeps it; everybody who comes now finds the new, empty one.
void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  Open(filesystem, path, true, file, status);
}

void NewAppendableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept {
  Open(filesystem, path, false, file, status);
}

TF_WritableFileOps WritableFileOps() {
  TF_WritableFileOps ops = {};
  ops.cleanup = Cleanup;
  ops.append = Append;
  ops.tell = Tell;
  ops.flush = Flush;
  ops.sync = Flush;
  ops.close = Close;
  return ops;
}

}  // namespace memory
