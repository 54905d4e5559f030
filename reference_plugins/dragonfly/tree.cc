#include "tree.h"

#include <map>

#include "failure.h"
#include "names.h"

namespace dragonfly {
namespace {

// Names that no path can have, for translate_name takes them away: a key like a//b has one.
bool IsName(const std::string& name) { return !name.empty() && name != "." && name != ".."; }

}  // namespace

Entry Tree::Look(const Name& name) const {
  Entry entry;
  if (name.key.empty()) {
    if (objects_.HasBucket(name.bucket)) entry.kind = Kind::kDirectory;
    return entry;
  }
  if (const auto version = objects_.Head(name)) {
    entry.kind = Kind::kFile;
    entry.version = *version;
    return entry;
  }
  const std::string marker = Inside(name);
  const Page page = objects_.List(name.bucket, {marker, false, 1, ""});
  if (page.keys.empty()) return entry;
  entry.kind = Kind::kDirectory;
  if (page.keys.front() == marker) entry.version.mtime_nsec = page.first_mtime_nsec;
  return entry;
}

Version Tree::File(const Name& name) const {
  const Entry entry = Look(name);
  if (entry.kind == Kind::kNothing) throw Failure(TF_NOT_FOUND, "there is no such object");
  if (entry.kind == Kind::kDirectory) throw Failure(TF_FAILED_PRECONDITION, "this is a directory");
  return entry.version;
}

bool Tree::IsDirectory(const Name& name) const {
  if (name.key.empty()) return objects_.HasBucket(name.bucket);
  return !objects_.List(name.bucket, {Inside(name), false, 1, ""}).keys.empty();
}

void Tree::DemandRoomForFile(const Name& name) const {
  if (name.key.empty() || IsDirectory(name)) {
    throw Failure(TF_FAILED_PRECONDITION, "this is a directory");
  }
  DemandParentIsNoFile(name);
}

void Tree::DemandParentIsNoFile(const Name& name) const {
  const Name parent = ParentOf(name);
  if (!parent.key.empty() && objects_.Head(parent)) {
    throw Failure(TF_FAILED_PRECONDITION, "the parent is a file");
  }
}

std::vector<Child> Tree::Children(const Name& directory, const std::string& start) const {
  const std::string inside = Inside(directory);
  std::map<std::string, Kind> found;
  Range range = {inside + start, true, 1000, ""};
  do {
    const Page page = objects_.List(directory.bucket, range);
    for (const std::string& key : page.keys) {
      const std::string name = key.substr(inside.size());
      if (IsName(name)) found[name] = Kind::kFile;
    }
    for (const std::string& prefix : page.prefixes) {
      const std::string name = prefix.substr(inside.size(), prefix.size() - inside.size() - 1);
      // Where there is an object of that name, too, it is what all other ops see.
      if (IsName(name)) found.emplace(name, Kind::kDirectory);
    }
    range.token = page.next;
  } while (!range.token.empty());
  std::vector<Child> children;
  for (const auto& [name, kind] : found) children.push_back({name, kind});
  return children;
}

std::vector<std::string> Tree::AllKeys(const Name& directory) const {
  std::vector<std::string> keys;
  Range range = {Inside(directory), false, 1000, ""};
  do {
    const Page page = objects_.List(directory.bucket, range);
    keys.insert(keys.end(), page.keys.begin(), page.keys.end());
    range.token = page.next;
  } while (!range.token.empty());
  return keys;
}

}  // namespace dragonfly
