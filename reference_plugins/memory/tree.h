// What there is: every path with what is behind it.
//
// A sorted map of whole paths. Directories cannot be renamed, so no path ever changes, and a
// directory is the range of paths that begin with its own.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_TREE_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_TREE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "content.h"

namespace memory {

// A path in the form that is stored: "/", or "/name/name". Gives 0 or, for a path that is empty or
// too long, an errno value.
int Normalize(const char* path, std::string* normal);

// Of a path in that form; the root is its own.
std::string_view ParentOf(std::string_view path);

// What all paths below `directory` begin with.
std::string StemOf(std::string_view directory);

struct Entry {
  std::shared_ptr<Content> content;  // none: a directory
  int64_t changed = Now();           // of a directory, nanoseconds since the epoch

  bool is_directory() const { return content == nullptr; }
};

using Entries = std::map<std::string, Entry, std::less<>>;

// Not guarded: Filesystem has the lock.
class Tree {
 public:
  // Only the root, which is always there.
  Tree();

  // NULL where there is nothing.
  const Entry* Find(std::string_view path) const;
  // Calls `use` with the name of each child, in order, until it gives false.
  void EachChild(std::string_view directory,
                 const std::function<bool(std::string_view)>& use) const;

  // Adds or replaces. Throws std::bad_alloc, and has changed nothing then.
  void Put(const std::string& path, Entry entry);
  // Adds or replaces, as Put; what was put together before needs no memory now.
  void Put(Entries::node_type prepared) noexcept;
  // Removes what is there, if anything, and not what is below it.
  void Remove(std::string_view path) noexcept;
  // Throws std::bad_alloc, and has changed nothing then.
  void RemoveBelow(std::string_view directory);

 private:
  void Touch(std::string_view path) noexcept;

  Entries entries_;
};

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_TREE_H_
