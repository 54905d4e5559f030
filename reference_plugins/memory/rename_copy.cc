// The ops with two paths. Each is done in one step, or not at all.

#include <cerrno>
#include <memory>
#include <string>

#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {
namespace {

// As OnPath, for two. `op(state, from, to, &at_target)` says by its last argument which of the two
// the message names.
template <typename Op>
void OnPaths(const TF_Filesystem* filesystem, const char* source, const char* target,
             TF_Status* status, Op op) noexcept {
  support::Guarded(status, source, [&] {
    std::string from, to;
    bool at_target = false;
    int error = Normalize(source, &from);
    if (error == 0) {
      error = Normalize(target, &to);
      at_target = error != 0;
    }
    if (error == 0) {
      Filesystem& state = Get(filesystem);
      const std::lock_guard<std::mutex> lock(state.mutex);
      error = op(state, from, to, &at_target);
    }
    support::SetErrno(status, error, at_target ? target : source);
  });
}

// Gives 0 where there is a file at `from`, and may be one at `to`.
int Look(const View& sources, const std::string& from, const View& targets, const std::string& to,
         const Entry** file, bool* at_target) {
  int error = sources.ReachFile(from, file);
  if (error != 0) return error;
  *at_target = true;
  const Entry* replaced = nullptr;
  error = targets.ReachFile(to, &replaced);
  return error == ENOENT ? targets.HasRoom(to) : error;
}

int Rename(Filesystem& state, const std::string& from, const std::string& to, bool* at_target) {
  View view(state, from);
  const Entry* file = nullptr;
  const int error = Look(view, from, View(state, to), to, &file, at_target);
  if (error != 0 || from == to) return error;
  // One path cannot change at once and the other one later.
  if (view.transaction() != View(state, to).transaction()) return EBUSY;
  std::shared_ptr<Content> content = file->content;
  if (!view.IsOwn(from)) content = content->Fork(content->changed());
  if (content == nullptr) return ENOSPC;
  view.Move(from, to, content);
  return 0;
}

// The source is only read, so it is the one that everybody sees.
int Copy(Filesystem& state, const std::string& from, const std::string& to, bool* at_target) {
  View view(state, to);
  const Entry* file = nullptr;
  const int error = Look(View(state), from, view, to, &file, at_target);
  if (error != 0 || from == to) return error;
  const std::shared_ptr<Content> copy = file->content->Fork(Now());
  if (copy == nullptr) return ENOSPC;
  view.Put(to, copy);
  return 0;
}

}  // namespace

void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept {
  OnPaths(filesystem, source, target, status, Rename);
}

void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept {
  OnPaths(filesystem, source, target, status, Copy);
}

}  // namespace memory
