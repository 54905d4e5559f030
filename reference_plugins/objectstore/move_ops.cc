// The ops with two paths. The store copies by itself; between a local file and an object the bytes
// come through here. A rename is a copy and a deletion, which others can see.

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "outgoing.h"
#include "parallel.h"
#include "posix/directories.h"
#include "posix/files.h"
#include "posix/rename_copy.h"
#include "posix/tables.h"
#include "support/descriptor.h"

namespace objectstore {
namespace {

// What tells whether a local file was written to. Two that could not be looked at are the same.
struct FileState {
  explicit FileState(const char* path) {
    struct stat facts;
    if (stat(path, &facts) != 0) return;
    inode = facts.st_ino;
    size = facts.st_size;
    changed = {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
  }

  bool operator!=(const FileState& other) const {
    return inode != other.inode || size != other.size || changed != other.changed;
  }

  ino_t inode = 0;
  off_t size = 0;
  std::pair<time_t, long> changed;
};

bool IsSame(const Name& one, const Name& other) {
  return one.bucket == other.bucket && one.key == other.key;
}

// Gives what was copied. Onto itself it changes nothing.
Version CopyObject(Filesystem& state, const Name& source, const Name& target) {
  if (IsSame(source, target)) return state.tree.FileNow(source);
  auto room = Meanwhile([&] { state.tree.DemandRoomForFile(target); });
  const Version version = state.tree.FileNow(source);
  room.get();
  state.objects.Copy(source, version, target);
  return version;
}

// The end of a rename. What was written since the copy is in no other place: it stays. A store that
// knows no condition of a DELETE leaves the moment between these two requests.
void DeleteCopied(Filesystem& state, const Name& name, const Version& copied) {
  const auto now = state.objects.Head(name);
  if (!now) return;
  if (now->etag != copied.etag) {
    throw Failure(TF_ABORTED, "the source is changed while it is renamed, and is not deleted");
  }
  state.objects.Delete(name, copied.etag);
}

// Gives what was copied.
Version Download(const TF_Filesystem* filesystem, const char* source, const char* target,
                 TF_Status* status) noexcept {
  Version version;
  Content content;
  Perform(status, source, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, source);
    version = state->tree.FileNow(name);
    content = state->Fetch(name, version);
  });
  if (content == nullptr) return version;
  // The file has no name, but the kernel has one for its descriptor. Others read it at the same
  // time, so it is opened anew.
  const std::string path = "/proc/self/fd/" + std::to_string(content->descriptor());
  const support::Descriptor from = support::Descriptor::Open(path.c_str(), O_RDONLY);
  if (!from.is_open()) {
    support::SetErrno(status, errno, target);
  } else {
    posix::BringFile(from.get(), target, status);
  }
  return version;
}

void Upload(const TF_Filesystem* filesystem, const char* source, const char* target,
            TF_Status* status) noexcept {
  const TF_RandomAccessFileOps ops = posix::RandomAccessFileOps();
  TF_RandomAccessFile file = {};
  posix::NewRandomAccessFile(filesystem, source, &file, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_Code ended = TF_OK;
  Perform(status, target, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, target);
    state->tree.DemandRoomForFile(name);
    Outgoing content(*state, name);
    std::vector<char> block(1 << 20);
    while (ended == TF_OK) {
      const int64_t got = ops.read(&file, content.size(), block.size(), block.data(), status);
      ended = TF_GetCode(status);
      if (ended != TF_OK && ended != TF_OUT_OF_RANGE) throw Failure(ended, TF_Message(status));
      content.Append(block.data(), static_cast<size_t>(got));
    }
    content.Put({});
  });
  ops.cleanup(&file);
}

}  // namespace

void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept {
  const char* local_source = LocalPath(filesystem, source);
  const char* local_target = LocalPath(filesystem, target);
  if (local_source != nullptr && local_target != nullptr) {
    return posix::CopyFile(filesystem, local_source, local_target, status);
  }
  if (local_target != nullptr) {
    Download(filesystem, source, local_target, status);
    return;
  }
  if (local_source != nullptr) return Upload(filesystem, local_source, target, status);
  Perform(status, source, [&] {
    const auto state = Get(filesystem);
    CopyObject(*state, ObjectName(state->config, source), ObjectName(state->config, target));
  });
}

void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept {
  const Op patient;
  const char* local_source = LocalPath(filesystem, source);
  const char* local_target = LocalPath(filesystem, target);
  if (local_source != nullptr) {
    if (local_target != nullptr) {
      return posix::RenameFile(filesystem, local_source, local_target, status);
    }
    const FileState before(local_source);
    Upload(filesystem, local_source, target, status);
    if (TF_GetCode(status) != TF_OK) return;
    if (FileState(local_source) != before) {
      return support::SetError(status, TF_ABORTED, source,
                               "the source is changed while it is renamed, and is not deleted");
    }
    return posix::DeleteFile(filesystem, local_source, status);
  }
  Version copied;
  if (local_target != nullptr) {
    copied = Download(filesystem, source, local_target, status);
    if (TF_GetCode(status) != TF_OK) return;
  }
  Perform(status, source, [&] {
    const auto state = Get(filesystem);
    const Name from = ObjectName(state->config, source);
    if (local_target == nullptr) {
      const Name to = ObjectName(state->config, target);
      copied = CopyObject(*state, from, to);
      if (IsSame(from, to)) return;
    }
    DeleteCopied(*state, from, copied);
  });
}

}  // namespace objectstore
