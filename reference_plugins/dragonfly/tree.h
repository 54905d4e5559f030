// Files and directories, made of keys. A file is an object. A directory is there where an object is
// called `directory/`, its marker, or where the key of any object begins so.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_

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

class Tree {
 public:
  explicit Tree(const Objects& objects) : objects_(objects) {}

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

  // The keys of a directory, its marker included.
  std::vector<std::string> AllKeys(const Name& directory) const;

 private:
  const Objects& objects_;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_TREE_H_
