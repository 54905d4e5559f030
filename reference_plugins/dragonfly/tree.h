// Files and directories, made of keys. A file is an object. A directory is there where an object is
// called `directory/`, its marker, or where the key of any object begins so.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "objects.h"

namespace dragonfly {

enum class Kind { kNothing, kFile, kDirectory };

struct Entry {
  Kind kind = Kind::kNothing;
  Version version;  // of a directory only the time is known, and only where there is a marker
};

struct Child {
  std::string name;
  Kind kind;
};

struct Keys {
  std::set<std::string> keys;
  int64_t first_mtime_nsec = 0;  // of the first that was listed
};

class Tree {
 public:
  // No listing has more than `most_pages`.
  Tree(const Objects& objects, int most_pages) : objects_(objects), most_pages_(most_pages) {}

  // One request for a file, two for all else. All of these throw Failure.
  Entry Look(const Name& name) const;

  // The file at `name`; NOT_FOUND or FAILED_PRECONDITION where there is none.
  Version File(const Name& name) const;

  // Whether something is in the directory, or its marker is there.
  bool IsDirectory(const Name& name) const;

  // Refuses, with FAILED_PRECONDITION, to make a file where a directory is, or below a file.
  void DemandRoomForFile(const Name& name) const;
  void DemandParentIsNoFile(const Name& name) const;

  // What is in a directory and begins with `start`, sorted, each name once.
  std::vector<Child> Children(const Name& directory, const std::string& start = "") const;

  // The keys of a directory, its marker included, sorted, each once; `most` of them at least, where
  // there are as many, or all.
  Keys KeysIn(const Name& directory, size_t most = SIZE_MAX) const;

 private:
  const Objects& objects_;
  const int most_pages_;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_
