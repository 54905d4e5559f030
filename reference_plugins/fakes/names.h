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

using Names = std::vector<std::string>;

// The last part of a path.
inline std::string NameIn(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

inline std::string Joined(const std::string& directory, const std::string& name) {
  return directory.empty() || directory.back() == '/' ? directory + name : directory + "/" + name;
}

// What an op that gives entries gave, with its blocks freed.
inline Names Taken(int count, char** entries) {
  Names names;
  for (int k = 0; k < count; ++k) {
    names.emplace_back(entries[k]);
    support::Free(entries[k]);
  }
  support::Free(entries);
  return names;
}

// An op that gives entries, with an edit of the names where there are `least` or more.
template <auto Entry, auto edit, size_t least = 0>
int Lists(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = (Right().*Entry)(filesystem, path, entries, status);
  if (count < static_cast<int>(least)) return count;
  Names names = Taken(count, *entries);
  edit(filesystem, path, names);
  return support::CopyNames(names, entries);
}

// Leaves out those of which `goes` is true.
template <typename All, typename Goes>
void LeaveOut(All& all, Goes goes) {
  all.erase(std::remove_if(all.begin(), all.end(), goes), all.end());
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

inline void DeleteTree(Filesystem filesystem, const std::string& path, Status status) {
  uint64_t files, directories;
  Right().delete_recursively(filesystem, path.c_str(), &files, &directories, status);
}

// The names in `directory`; none where it cannot be listed.
inline Names Children(Filesystem filesystem, const std::string& directory) {
  char** entries = nullptr;
  const int count =
      Right().get_children(filesystem, directory.c_str(), &entries, Scratch().status());
  return Taken(count, entries);
}

// The names in a directory, as a store would give them.
inline Names Sorted(Filesystem filesystem, const std::string& directory) {
  Names names = Children(filesystem, directory);
  std::sort(names.begin(), names.end());
  return names;
}

// A page of a store, and a buffer of names.

inline constexpr size_t kPage = 1000;
inline constexpr size_t kRoom = 64 << 10;  // of names, each with its end

// How many of these names have room.
inline size_t Fitting(const Names& names) {
  size_t taken = 0;
  for (size_t k = 0; k < names.size(); ++k) {
    taken += names[k].size() + 1;
    if (taken > kRoom) return k;
  }
  return names.size();
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_NAMES_H_
