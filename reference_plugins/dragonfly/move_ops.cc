// The ops with two paths. The store copies by itself; between a local file and an object the bytes
// come through here. A rename is a copy and a deletion, which others can see.

#include <cstring>
#include <string>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/directories.h"
#include "posix/files.h"
#include "posix/rename_copy.h"
#include "posix/tables.h"

namespace dragonfly {
namespace {

// Onto itself it changes nothing.
void CopyObject(Filesystem& state, const Name& source, const Name& target) {
  const Version version = state.tree.File(source);
  if (source.bucket == target.bucket && source.key == target.key) return;
  state.tree.DemandRoomForFile(target);
  state.objects.Copy(source, version, target);
}

void Download(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept {
  Content content;
  Perform(status, source, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, source);
    content = state->Fetch(name, state->tree.File(name));
  });
  if (content == nullptr) return;
  // The file has no name, but the kernel has one for its descriptor.
  const std::string path = "/proc/self/fd/" + std::to_string(content->descriptor());
  posix::CopyFile(filesystem, path.c_str(), target, status);
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
    Spool spool(state->config.cache_dir);
    std::vector<char> block(1 << 20);
    while (ended == TF_OK) {
      const int64_t got = ops.read(&file, spool.size(), block.size(), block.data(), status);
      ended = TF_GetCode(status);
      if (ended != TF_OK && ended != TF_OUT_OF_RANGE) throw Failure(ended, TF_Message(status));
      spool.Append(block.data(), static_cast<size_t>(got));
    }
    state->objects.Put(name, &spool);
  });
  ops.cleanup(&file);
}

}  // namespace

void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept {
  const char* local_source = LocalPath(source);
  const char* local_target = LocalPath(target);
  if (local_source != nullptr && local_target != nullptr) {
    return posix::CopyFile(filesystem, local_source, local_target, status);
  }
  if (local_target != nullptr) return Download(filesystem, source, local_target, status);
  if (local_source != nullptr) return Upload(filesystem, local_source, target, status);
  Perform(status, source, [&] {
    const auto state = Get(filesystem);
    CopyObject(*state, ObjectName(state->config, source), ObjectName(state->config, target));
  });
}

void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept {
  const char* local_source = LocalPath(source);
  const char* local_target = LocalPath(target);
  if (local_source != nullptr && local_target != nullptr) {
    return posix::RenameFile(filesystem, local_source, local_target, status);
  }
  CopyFile(filesystem, source, target, status);
  if (TF_GetCode(status) != TF_OK || std::strcmp(source, target) == 0) return;
  DeleteFile(filesystem, source, status);
}

}  // namespace dragonfly
