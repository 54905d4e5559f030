// The ops that make and remove files and directories.

#include <cerrno>
#include <cstdint>
#include <string>

#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {
namespace {

int MakeDirectory(Filesystem& state, const std::string& at) {
  View view(state, at);
  if (view.Find(at) != nullptr) return EEXIST;
  const int error = view.HasRoom(at);
  if (error == 0) view.Put(at, nullptr);
  return error;
}

int RemoveDirectory(Filesystem& state, const std::string& at) {
  View view(state, at);
  const Entry* entry = nullptr;
  const int error = view.Reach(at, &entry);
  if (error != 0) return error;
  if (!entry->is_directory()) return ENOTDIR;
  if (at == "/") return EBUSY;
  if (!view.IsEmpty(at)) return ENOTEMPTY;
  view.Remove(at);
  return 0;
}

}  // namespace

void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, MakeDirectory);
}

void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [](Filesystem& state, const std::string& at) {
    for (size_t end = 0; end < at.size();) {
      end = at.find('/', end + 1);
      if (end == std::string::npos) end = at.size();
      const std::string part = at.substr(0, end);
      int error = MakeDirectory(state, part);
      if (error == EEXIST) error = View(state, part).Find(part)->is_directory() ? 0 : ENOTDIR;
      // Only where an ancestor is going to be there at the end of a transaction.
      if (error == ENOENT) error = EBUSY;
      if (error != 0) return error;
    }
    return 0;
  });
}

void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [](Filesystem& state, const std::string& at) {
    View view(state, at);
    const Entry* entry = nullptr;
    const int error = view.ReachFile(at, &entry);
    if (error == 0) view.Remove(at);
    return error;
  });
}

void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, RemoveDirectory);
}

// All or nothing: where a transaction holds a path in the tree, it does not even start.
void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).Reach(at, &entry);
    if (error != 0) return error;
    if (at == "/" || state.transactions.Of(at) != nullptr ||
        state.transactions.HoldBelow(at, nullptr)) {
      return EBUSY;
    }
    if (entry->is_directory()) state.tree.RemoveBelow(at);
    state.tree.Remove(at);
    *undeleted_dirs = 0;
    return 0;
  });
}

}  // namespace memory
