// Deleting. S3 says nothing of a key that is not there, so what is there is looked at first.

#include <string>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/directories.h"

namespace dragonfly {
namespace {

void RefuseBucket(const Name& name) {
  if (name.key.empty()) throw Failure(TF_FAILED_PRECONDITION, "a bucket is not deleted");
}

}  // namespace

void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(path)) return posix::DeleteFile(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    // What somebody else puts there meanwhile is not what was to be deleted.
    state->objects.Delete(name, state->tree.File(name).etag);
  });
}

void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(path)) return posix::DeleteDir(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    RefuseBucket(name);
    const std::string marker = Inside(name);
    const auto keys = state->tree.KeysIn(name, 2).keys;
    if (keys.empty()) {
      if (state->objects.Head(name)) throw Failure(TF_FAILED_PRECONDITION, "this is a file");
      throw Failure(TF_NOT_FOUND, "there is no such directory");
    }
    if (keys.size() > 1 || *keys.begin() != marker) {
      throw Failure(TF_FAILED_PRECONDITION, "the directory is not empty");
    }
    state->objects.Delete({name.bucket, marker});
  });
}

void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  if (const char* local = LocalPath(path)) {
    return posix::DeleteRecursively(filesystem, local, undeleted_files, undeleted_dirs, status);
  }
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    RefuseBucket(name);
    const auto inside = state->tree.KeysIn(name).keys;
    // What is in a directory goes before its marker, for stores that keep directories.
    std::vector<std::string> keys(inside.rbegin(), inside.rend());
    if (keys.empty()) {
      state->tree.File(name);
      keys.push_back(name.key);
    }
    *undeleted_dirs = 0;
    const auto left = state->objects.DeleteAll(name.bucket, keys);
    for (const auto& [key, failure] : left) {
      ++*(key.back() == '/' ? undeleted_dirs : undeleted_files);
    }
    if (!left.empty()) throw left.front().second;
  });
}

}  // namespace dragonfly
