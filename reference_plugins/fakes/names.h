// Shorthands for the right ops, for faults that list, or ask on the side.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_NAMES_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_NAMES_H_

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "faults.h"
#include "support/memory.h"

namespace fakes {

// A status for a question on the side; it lives as long as the expression that makes it.
class Scratch {
 public:
  Status status() const { return status_.get(); }

 private:
  std::unique_ptr<TF_Status, void (*)(Status)> status_{TF_NewStatus(), TF_DeleteStatus};
};

inline std::string Joined(const std::string& directory, const std::string& name) {
  return directory.empty() || directory.back() == '/' ? directory + name : directory + "/" + name;
}

// What an op that gives entries gave, with its blocks freed.
inline std::vector<std::string> Taken(int count, char** entries) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) {
    names.emplace_back(entries[k]);
    support::Free(entries[k]);
  }
  support::Free(entries);
  return names;
}

inline bool IsDirectory(Filesystem filesystem, const std::string& path) {
  return Right().is_directory(filesystem, path.c_str(), Scratch().status());
}

// Renames directories as well, unlike posix. Gives whether one was renamed.
inline bool RenamesADirectory(Filesystem filesystem, Path source, Path target, Status status) {
  if (!IsDirectory(filesystem, source) || IsDirectory(filesystem, target)) {
    Right().rename_file(filesystem, source, target, status);
    return false;
  }
  const bool renamed = std::rename(source, target) == 0;
  if (renamed)
    TF_SetStatus(status, TF_OK, "");
  else
    TF_SetStatusFromIOError(status, errno, target);
  return renamed;
}

// The names in `directory`; none where it cannot be listed.
inline std::vector<std::string> Children(Filesystem filesystem, const std::string& directory) {
  char** entries = nullptr;
  const int count =
      Right().get_children(filesystem, directory.c_str(), &entries, Scratch().status());
  return Taken(count, entries);
}

// The names in a directory, as a store would give them.
inline std::vector<std::string> Sorted(Filesystem filesystem, const std::string& directory) {
  std::vector<std::string> names = Children(filesystem, directory);
  std::sort(names.begin(), names.end());
  return names;
}

// A page of a store, and a buffer of names.

inline constexpr size_t kPage = 1000;
inline constexpr size_t kRoom = 64 << 10;  // of names, each with its end

// How many of these names have room.
inline size_t Fitting(const std::vector<std::string>& names) {
  size_t taken = 0;
  for (size_t k = 0; k < names.size(); ++k) {
    taken += names[k].size() + 1;
    if (taken > kRoom) return k;
  }
  return names.size();
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_NAMES_H_
