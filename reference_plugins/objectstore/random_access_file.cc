// Files to read. One file may serve many threads at once.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/files.h"
#include "posix/tables.h"

namespace objectstore {
namespace {

class Reader {
 public:
  virtual ~Reader() = default;
  virtual int64_t Read(uint64_t offset, size_t n, char* buffer, TF_Status* status) noexcept = 0;
};

class LocalReader : public Reader {
 public:
  explicit LocalReader(TF_RandomAccessFile file) : file_(file) {}
  ~LocalReader() override { ops_.cleanup(&file_); }

  int64_t Read(uint64_t offset, size_t n, char* buffer, TF_Status* status) noexcept override {
    return ops_.read(&file_, offset, n, buffer, status);
  }

 private:
  const TF_RandomAccessFileOps ops_ = posix::RandomAccessFileOps();
  TF_RandomAccessFile file_;
};

// An object. Its content is asked for with the first byte, and it stays the version it was when
// that came. Nothing is locked meanwhile: a process may fork.
class ObjectReader : public Reader {
 public:
  ObjectReader(std::shared_ptr<Filesystem> filesystem, const char* path, Name name, Version version)
      : filesystem_(std::move(filesystem)),
        path_(path),
        name_(std::move(name)),
        version_(std::move(version)) {}

  int64_t Read(uint64_t offset, size_t n, char* buffer, TF_Status* status) noexcept override {
    const int64_t done = Perform(status, path_.c_str(), int64_t{-1}, [&] {
      return n == 0 ? 0 : static_cast<int64_t>(ReadContent(offset, n, buffer));
    });
    // The end of the file is no failure: the bytes in front of it count, and the code tells the
    // reader to stop.
    if (done >= 0 && static_cast<uint64_t>(done) < n) {
      support::SetError(status, TF_OUT_OF_RANGE, path_.c_str(),
                        "the file ends before the bytes asked for");
    }
    return done;
  }

 private:
  using Source = std::shared_ptr<const Readable>;

  size_t ReadContent(uint64_t offset, size_t n, char* buffer) {
    if (const Readable* settled = settled_.load(std::memory_order_acquire)) {
      return settled->Read(offset, n, buffer);
    }
    for (bool is_second = false;; is_second = true) {
      Source source;
      try {
        source = Opened();
        const size_t done = source->Read(offset, n, buffer);
        if (Settle(source)) return done;
      } catch (const Changed&) {
        if (is_second || !Renew(std::move(source))) throw;
      }
    }
  }

  // Threads that ask at the same time share what is fetched; one of them says what the file is.
  Source Opened() {
    for (;;) {
      Source opened;
      std::unique_lock<std::mutex> lock(filesystem_->opening);
      if (source_ != nullptr) return source_;
      const Version version = version_;
      lock.unlock();
      opened = filesystem_->Open(name_, version);
      lock.lock();
      if (source_ == nullptr && version_.etag == version.etag) source_ = std::move(opened);
    }
  }

  // From now on the file is what `source` has; false where another thread made it something else.
  bool Settle(const Source& source) {
    const std::lock_guard<std::mutex> lock(filesystem_->opening);
    if (source_ != source) return false;
    settled_.store(source.get(), std::memory_order_release);
    return true;
  }

  // Nothing was read yet, so the file may as well be the new version. False where something was.
  bool Renew(Source changed) {
    if (settled_.load(std::memory_order_relaxed) != nullptr) return false;
    const Version now = filesystem_->tree.File(name_);
    const std::lock_guard<std::mutex> lock(filesystem_->opening);
    if (settled_.load(std::memory_order_relaxed) != nullptr) return false;
    if (source_ != changed) return true;  // another thread did it
    source_.reset();
    version_ = now;
    return true;
  }

  const std::shared_ptr<Filesystem> filesystem_;
  const std::string path_;  // for messages
  const Name name_;
  // Until `settled_` is set these two are guarded, for moments, by a lock that forks wait for.
  Version version_;
  Source source_;
  std::atomic<const Readable*> settled_{nullptr};
};

Reader* ReaderOf(const TF_RandomAccessFile* file) {
  return static_cast<Reader*>(file->plugin_file);
}

void Cleanup(TF_RandomAccessFile* file) noexcept {
  delete ReaderOf(file);
  file->plugin_file = nullptr;
}

int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) noexcept {
  return ReaderOf(file)->Read(offset, n, buffer, status);
}

}  // namespace

void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    TF_RandomAccessFile opened = {};
    posix::NewRandomAccessFile(filesystem, local, &opened, status);
    if (TF_GetCode(status) != TF_OK) return;
    return Perform(status, path, [&] { file->plugin_file = new LocalReader(opened); });
  }
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    const Version version = state->tree.File(name);
    file->plugin_file = new ObjectReader(state, path, name, version);
  });
}

TF_RandomAccessFileOps RandomAccessFileOps() {
  TF_RandomAccessFileOps ops = {};
  ops.cleanup = Cleanup;
  ops.read = Read;
  return ops;
}

}  // namespace objectstore
