// Files to write. What is appended is an object when flush, sync or close put it, or cleanup:
// TensorFlow drops some of its files without closing them, such as those that lock the cache of a
// data set.

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "outgoing.h"
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
        content_(std::make_unique<Outgoing>(*filesystem_, name_)) {}

  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  // Nobody said that it is finished: so it replaces nothing but what it put itself, and what began
  // to go up in parts is broken off.
  ~ObjectWriter() override {
    if (content_ != nullptr && handed_out_ && !failed_ && !content_->has_begun()) {
      if (!appends_) condition_ = {put_.empty(), put_};
      TF_Status* nobody_asks = TF_NewStatus();
      Flush(nobody_asks);
      TF_DeleteStatus(nobody_asks);
    }
    LetGo();
  }

  // It is TensorFlow's now.
  ObjectWriter* HandedOut() {
    handed_out_ = true;
    return this;
  }

  // Goes on behind what is there; where somebody else changes that meanwhile, nothing is put.
  void GoOnBehind(const Version& version) {
    content_->GoOnBehind(version);
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
      Outgoing& content = Open();
      try {
        content.Append(buffer, n);
      } catch (...) {
        GiveUp();
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
    LetGo();
  }

 private:
  Outgoing& Open() {
    if (content_ == nullptr) throw Failure(TF_FAILED_PRECONDITION, "the file is closed");
    // A child of fork has the same temporary files, and would write between its parent's bytes.
    if (getpid() != owner_) {
      throw Failure(TF_FAILED_PRECONDITION, "the file belongs to the process that opened it");
    }
    if (failed_) {
      throw Failure(failed_->code(), std::string("what was written is lost: ") + failed_->what());
    }
    return *content_;
  }

  // Throws on what is thrown. What comes behind what failed would close the gap that it left.
  [[noreturn]] void GiveUp() {
    failed_.emplace(TF_INTERNAL, "no reason is known");
    content_->BreakOff();
    try {
      throw;
    } catch (const Failure& failure) {
      failed_ = failure;
      throw;
    }
  }

  // In a child of fork the threads are not there that its end waits for.
  void LetGo() {
    if (getpid() == owner_) {
      content_.reset();
    } else {
      content_.release();
    }
  }

  void Put() {
    Outgoing& content = Open();
    if (!dirty_) return;
    try {
      put_ = content.Put(condition_);
    } catch (...) {
      if (content.has_begun()) GiveUp();
      throw;
    }
    if (appends_) condition_ = {false, put_};
    dirty_ = false;
  }

  const std::shared_ptr<Filesystem> filesystem_;
  const std::string path_;  // for messages
  const Name name_;
  const pid_t owner_ = getpid();
  std::unique_ptr<Outgoing> content_;  // NULL once closed
  bool dirty_ = true;                  // a new file is put even where nothing is appended
  bool appends_ = false;
  bool handed_out_ = false;
  std::optional<Failure> failed_;  // for good
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
