// The ops that ask about a path. They see the tree as it is: what a transaction has staged is not
// there yet.

#include <cerrno>
#include <cstdint>
#include <string>

#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {

void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    return View(state).Reach(at, &entry);
  });
}

bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept {
  TF_Status* unseen = statuses == nullptr ? TF_NewStatus() : nullptr;
  bool all = true;
  for (int k = 0; k < num_files; ++k) {
    TF_Status* status = statuses == nullptr ? unseen : statuses[k];
    PathExists(filesystem, paths[k], status);
    all = TF_GetCode(status) == TF_OK && all;
  }
  if (unseen != nullptr) TF_DeleteStatus(unseen);
  return all;
}

void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).Reach(at, &entry);
    if (error != 0) return error;
    const bool is_directory = entry->is_directory();
    const int64_t changed = is_directory ? entry->changed : entry->content->changed();
    statistics->length = is_directory ? 0 : static_cast<int64_t>(entry->content->size());
    statistics->mtime_nsec = state.settings.Coarse(changed);
    statistics->is_directory = is_directory;
    return 0;
  });
}

// As TensorFlow needs it, which looks at the status only: a file is FAILED_PRECONDITION.
bool IsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  bool is_directory = false;
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).Reach(at, &entry);
    if (error != 0) return error;
    is_directory = entry->is_directory();
    return is_directory ? 0 : ENOTDIR;
  });
  return is_directory;
}

int64_t GetFileSize(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  int64_t size = -1;
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).ReachFile(at, &entry);
    if (error == 0) size = static_cast<int64_t>(entry->content->size());
    return error;
  });
  return size;
}

}  // namespace memory
