// The ops that ask about paths and change nothing.

#include <atomic>
#include <exception>
#include <memory>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "parallel.h"
#include "posix/queries.h"

namespace objectstore {
namespace {

// What is there; NOT_FOUND where nothing is.
Entry Existing(const TF_Filesystem* filesystem, const char* path) {
  const auto state = Get(filesystem);
  const Entry entry = state->tree.Look(ObjectName(state->config, path));
  if (entry.kind == Kind::kNothing) throw Failure(TF_NOT_FOUND, "there is no such object");
  return entry;
}

}  // namespace

void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::PathExists(filesystem, local, status);
  Perform(status, path, [&] { Existing(filesystem, path); });
}

bool PathsExist(const TF_Filesystem* filesystem, char** paths, int num_files,
                TF_Status** statuses) noexcept {
  constexpr size_t kAtOnce = 16;
  const Op patient;
  std::atomic<bool> all{true};
  const auto ask = [&](size_t k) {
    // Where nobody wants to know which: the first that is missing settles it.
    if (statuses == nullptr && !all) return;
    const std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)> unseen(TF_NewStatus(),
                                                                        TF_DeleteStatus);
    TF_Status* status = statuses != nullptr ? statuses[k] : unseen.get();
    PathExists(filesystem, paths[k], status);
    if (TF_GetCode(status) != TF_OK) all = false;
  };
  const auto count = static_cast<size_t>(num_files);
  try {
    ForEach(count, kAtOnce, ask);
  } catch (const std::exception&) {
    // No memory for threads; no question throws.
    for (size_t k = 0; k < count; ++k) ask(k);
  }
  return all;
}

void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return posix::Stat(filesystem, local, statistics, status);
  }
  Perform(status, path, [&] {
    const Entry entry = Existing(filesystem, path);
    statistics->length = static_cast<int64_t>(entry.version.size);
    statistics->mtime_nsec = entry.version.mtime_nsec;
    statistics->is_directory = entry.kind == Kind::kDirectory;
  });
}

// FAILED_PRECONDITION for a file, as posix has it: TensorFlow looks at the status only.
bool IsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::IsDirectory(filesystem, local, status);
  return Perform(status, path, false, [&] {
    const auto state = Get(filesystem);
    state->tree.DemandDirectory(ObjectName(state->config, path));
    return true;
  });
}

int64_t GetFileSize(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::GetFileSize(filesystem, local, status);
  return Perform(status, path, int64_t{-1}, [&] {
    const auto state = Get(filesystem);
    return static_cast<int64_t>(state->tree.File(ObjectName(state->config, path)).size);
  });
}

}  // namespace objectstore
