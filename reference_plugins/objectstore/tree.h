// Files and directories, made of keys. A file is an object. A directory is there where an object is
// called `directory/`, its marker, or where the key of any object begins so.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TREE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TREE_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "objects.h"
#include "pages.h"

namespace objectstore {

enum class Kind { kNothing, kFile, kDirectory };

struct Entry {
  Kind kind = Kind::kNothing;
  Version version;  // of a directory only the time is known, and only where there is a marker
};

struct Child {
  std::string name;
  Kind kind;
};

// What is in a directory.
struct Listing {
  bool is_there = false;  // the directory: something is in it, or its marker
  std::vector<Child> children;
};

// What a directory says of a name in it.
struct Place {
  bool in_directory = false;  // whether there is such a directory
  Kind kind = Kind::kNothing;
};

struct Keys {
  std::set<std::string> keys;
  int64_t first_mtime_nsec = 0;  // of the first that was listed
};

class Tree {
 public:
  // No listing has more than `most_pages`.
  Tree(const Objects& objects, int most_pages) : objects_(objects), most_pages_(most_pages) {}

  // What is there. One request for a file, two for all else; where the name does not look like one
  // of a file, both at the same time. All of these throw Failure.
  Entry Look(const Name& name) const;

  // The file at `name`, as the store says now, or said not long ago where that is remembered;
  // NOT_FOUND or FAILED_PRECONDITION where there is none.
  Version FileNow(const Name& name) const;
  Version File(const Name& name) const;

  // What is there; where it is both, a file. One request where few names begin so.
  Kind KindOf(const Name& name) const;

  // Demands a directory: NOT_FOUND or FAILED_PRECONDITION where there is none.
  void DemandDirectory(const Name& name) const;

  // Whether something is in the directory, or its marker is there.
  bool IsDirectory(const Name& name) const;

  // Refuses, with FAILED_PRECONDITION, to make a file where a directory is, or below a file.
  void DemandRoomForFile(const Name& name) const;
  void DemandParentIsNoFile(const Name& name) const;

  // What is at `name`, and whether the directory above is there: one request where that is small.
  Place PlaceOf(const Name& name) const;

  // What is in a directory and begins with `start`, sorted, each name once.
  Listing Children(const Name& directory, const std::string& start = "") const;

  // All keys of a directory, its marker included, page by page.
  Pages PagesOf(const Name& directory) const;

  // The keys of a directory, its marker included, sorted, each once; `most` of them at least, where
  // there are as many, or all.
  Keys KeysIn(const Name& directory, size_t most = SIZE_MAX) const;

 private:
  // What the store says of the object, or said not long ago.
  Answer Ask(const Name& name) const;
  Version FileOf(const Name& name, Answer answer) const;

  const Objects& objects_;
  const int most_pages_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TREE_H_
