// Directories are made of markers: objects without content that are called like the directory, with
// a slash behind.

#include <string>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/directories.h"

namespace dragonfly {
namespace {

void Mark(const Objects& objects, const Name& directory, const Condition& condition) {
  objects.Put({directory.bucket, Inside(directory)}, nullptr, condition);
}

void DemandParent(const Tree& tree, const Name& name) {
  const Kind kind = tree.Look(ParentOf(name)).kind;
  if (kind == Kind::kNothing) throw Failure(TF_NOT_FOUND, "the parent is missing");
  if (kind == Kind::kFile) throw Failure(TF_FAILED_PRECONDITION, "the parent is a file");
}

}  // namespace

void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(path)) return posix::CreateDir(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    if (state->tree.Look(name).kind != Kind::kNothing) {
      throw Failure(TF_ALREADY_EXISTS, "there is something already");
    }
    if (name.key.empty()) throw Failure(TF_NOT_FOUND, "there is no such bucket, and none is made");
    DemandParent(state->tree, name);
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
  if (const char* local = LocalPath(path)) {
    return posix::RecursivelyCreateDir(filesystem, local, status);
  }
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    std::vector<Name> missing;
    for (Name name = ObjectName(state->config, path);; name = ParentOf(name)) {
      const Kind kind = state->tree.Look(name).kind;
      if (kind == Kind::kDirectory) break;
      if (kind == Kind::kFile) throw Failure(TF_FAILED_PRECONDITION, "a file is in the way");
      if (name.key.empty()) {
        throw Failure(TF_FAILED_PRECONDITION, "there is no such bucket, and none is made");
      }
      missing.push_back(name);
    }
    for (auto name = missing.rbegin(); name != missing.rend(); ++name) {
      Mark(state->objects, *name, {});
    }
  });
}

}  // namespace dragonfly
