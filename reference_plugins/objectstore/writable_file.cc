// Files to write. An object is put whole, so what is appended waits in a temporary file until
// flush, sync, close or cleanup: TensorFlow drops some of its files without closing them, such as
// those that lock the cache of a data set.

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/files.h"
#include "posix/tables.h"

namespace objectstore {
namespace {

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void Append(const char* buffer, size_t n, TF_Status* status) noexcept = 0;
  virtual int64_t Tell(TF_Status* status) noexcept = 0;
  virtual void Flush(TF_Status* status) noexcept = 0;
  virtual void Sync(TF_Status* status) noexcept = 0;
  virtual void Close(TF_Status* status) noexcept = 0;
};

class LocalWriter : public Writer {
 public:
  explicit LocalWriter(TF_WritableFile file) : file_(file) {}
  ~LocalWriter() override { ops_.cleanup(&file_); }

  void Append(const char* buffer, size_t n, TF_Status* status) noexcept override {
    ops_.append(&file_, buffer, n, status);
  }
  int64_t Tell(TF_Status* status) noexcept override { return ops_.tell(&file_, status); }
  void Flush(TF_Status* status) noexcept override { ops_.flush(&file_, status); }
  void Sync(TF_Status* status) noexcept override { ops_.sync(&file_, status); }
  void Close(TF_Status* status) noexcept override { ops_.close(&file_, status); }

 private:
  const TF_WritableFileOps ops_ = posix::WritableFileOps();
  TF_WritableFile file_;
};

class ObjectWriter : public Writer {
 public:
  ObjectWriter(std::shared_ptr<Filesystem> filesystem, const char* path, Name name)
      : filesystem_(std::move(filesystem)),
        path_(path),
        name_(std::move(name)),
        spool_(filesystem_->NewSpool()) {}

  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  // Nobody said that it is finished: so it replaces nothing but what it put itself.
  ~ObjectWriter() override {
    if (spool_ == nullptr || !handed_out_ || failed_ || getpid() != owner_) return;
    if (!appends_) condition_ = {put_.empty(), put_};
    TF_Status* nobody_asks = TF_NewStatus();
    Flush(nobody_asks);
    TF_DeleteStatus(nobody_asks);
  }

  // It is TensorFlow's now.
  ObjectWriter* HandedOut() {
    handed_out_ = true;
    return this;
  }

  // Goes on behind what is there; where somebody else changes that meanwhile, nothing is put.
  void GoOnBehind(const Version& version) {
    const Content old = filesystem_->Fetch(name_, version);
    std::vector<char> block(1 << 20);
    while (spool_->size() < old->size()) {
      spool_->Append(block.data(), old->Read(spool_->size(), block.size(), block.data()));
    }
    condition_.only_if_etag = version.etag;
    appends_ = true;
    dirty_ = false;
  }

  void BeginAnew() {
    condition_.only_if_missing = true;
    appends_ = true;
  }

  void Append(const char* buffer, size_t n, TF_Status* status) noexcept override {
    Perform(status, path_.c_str(), [&] {
      try {
        Open().Append(buffer, n);
      } catch (const Failure& failure) {
        failed_ = failure;
        throw;
      }
      dirty_ = dirty_ || n > 0;
    });
  }

  int64_t Tell(TF_Status* status) noexcept override {
    return Perform(status, path_.c_str(), int64_t{-1},
                   [&] { return static_cast<int64_t>(Open().size()); });
  }

  void Flush(TF_Status* status) noexcept override {
    Perform(status, path_.c_str(), [&] { Put(); });
  }

  void Sync(TF_Status* status) noexcept override { Flush(status); }

  void Close(TF_Status* status) noexcept override {
    Perform(status, path_.c_str(), [&] { Put(); });
    spool_.reset();
  }

 private:
  Spool& Open() {
    if (spool_ == nullptr) throw Failure(TF_FAILED_PRECONDITION, "the file is closed");
    // A child of fork has the same temporary file, and would write between its parent's bytes.
    if (getpid() != owner_) {
      throw Failure(TF_FAILED_PRECONDITION, "the file belongs to the process that opened it");
    }
    // What comes behind an append that failed would close the gap that it left.
    if (failed_)
      throw Failure(failed_->code(), std::string("an append failed: ") + failed_->what());
    return *spool_;
  }

  void Put() {
    const Spool& content = Open();
    if (!dirty_) return;
    put_ = filesystem_->objects.Put(name_, &content, condition_);
    if (appends_) condition_ = {false, put_};
    dirty_ = false;
  }

  const std::shared_ptr<Filesystem> filesystem_;
  const std::string path_;  // for messages
  const Name name_;
  const pid_t owner_ = getpid();
  std::shared_ptr<Spool> spool_;  // NULL once closed
  bool dirty_ = true;             // a new file is put even where nothing is appended
  bool appends_ = false;
  bool handed_out_ = false;
  std::optional<Failure> failed_;  // the first append that did
  std::string put_;                // the ETag of what it put
  Condition condition_;
};

Writer* Get(const TF_WritableFile* file) { return static_cast<Writer*>(file->plugin_file); }

void Cleanup(TF_WritableFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  Get(file)->Append(buffer, n, status);
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  return Get(file)->Tell(status);
}

void Flush(const TF_WritableFile* file, TF_Status* status) noexcept { Get(file)->Flush(status); }

void Sync(const TF_WritableFile* file, TF_Status* status) noexcept { Get(file)->Sync(status); }

void Close(const TF_WritableFile* file, TF_Status* status) noexcept { Get(file)->Close(status); }

using OpenLocal = decltype(posix::NewWritableFile);

void OpenLocally(OpenLocal open, const TF_Filesystem* filesystem, const char* path,
                 TF_WritableFile* file, TF_Status* status) {
  TF_WritableFile opened = {};
  open(filesystem, path, &opened, status);
  if (TF_GetCode(status) != TF_OK) return;
  Perform(status, path, [&] { file->plugin_file = new LocalWriter(opened); });
}

}  // namespace

void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return OpenLocally(posix::NewWritableFile, filesystem, local, file, status);
  }
  Perform(status, path, [&] {
    const auto state = objectstore::Get(filesystem);
    const Name name = ObjectName(state->config, path);
    state->tree.DemandRoomForFile(name);
    file->plugin_file = (new ObjectWriter(state, path, name))->HandedOut();
  });
}

void NewAppendableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return OpenLocally(posix::NewAppendableFile, filesystem, local, file, status);
  }
  Perform(status, path, [&] {
    const auto state = objectstore::Get(filesystem);
    const Name name = ObjectName(state->config, path);
    const Answer version = name.key.empty() ? std::nullopt : state->objects.Head(name);
    if (!version) state->tree.DemandRoomForFile(name);
    auto writer = std::make_unique<ObjectWriter>(state, path, name);
    if (version) {
      writer->GoOnBehind(*version);
    } else {
      writer->BeginAnew();
    }
    file->plugin_file = writer.release()->HandedOut();
  });
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

}  // namespace objectstore
