// Directories are made of markers: objects without content that are called like the directory, with
// a slash behind.

#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "parallel.h"
#include "posix/directories.h"

namespace objectstore {
namespace {

void Mark(const Objects& objects, const Name& directory, const Condition& condition) {
  objects.Put({directory.bucket, Inside(directory)}, nullptr, condition);
}

}  // namespace

void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::CreateDir(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    if (name.key.empty()) {
      if (state->objects.HasBucket(name.bucket)) {
        throw Failure(TF_ALREADY_EXISTS, "there is something already");
      }
      throw Failure(TF_NOT_FOUND, "there is no such bucket, and none is made");
    }
    auto parent = Meanwhile([&] { state->tree.DemandParentIsNoFile(name); });
    const Place place = state->tree.PlaceOf(name);
    if (place.kind != Kind::kNothing) {
      throw Failure(TF_ALREADY_EXISTS, "there is something already");
    }
    parent.get();
    if (!place.in_directory) throw Failure(TF_NOT_FOUND, "the parent is missing");
    try {
      Mark(state->objects, name, {true, ""});
    } catch (const Failure& failure) {
      // Refused, for there is something now; or in conflict with what somebody else began.
      if (failure.code() != TF_ABORTED) throw;
      if (state->tree.Look(name).kind == Kind::kNothing) throw;
      throw Failure(TF_ALREADY_EXISTS, "somebody else made it meanwhile");
    }
  });
}

void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return posix::RecursivelyCreateDir(filesystem, local, status);
  }
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    Name name = ObjectName(state->config, path);
    std::vector<Name> missing;
    bool is_there = name.key.empty() && state->objects.HasBucket(name.bucket);
    for (; !is_there && !name.key.empty(); name = ParentOf(name)) {
      const Place place = state->tree.PlaceOf(name);
      if (place.kind == Kind::kFile) throw Failure(TF_FAILED_PRECONDITION, "a file is in the way");
      if (place.kind == Kind::kNothing) missing.push_back(name);
      is_there = place.kind == Kind::kDirectory || place.in_directory;
    }
    if (!is_there) {
      throw Failure(TF_FAILED_PRECONDITION, "there is no such bucket, and none is made");
    }
    if (missing.empty()) return;
    state->tree.DemandParentIsNoFile(missing.back());
    constexpr size_t kAtOnce = 16;
    ForEach(missing.size(), kAtOnce, [&](size_t k) { Mark(state->objects, missing[k], {}); });
  });
}

}  // namespace objectstore
