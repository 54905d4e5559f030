#include "tree.h"

#include <algorithm>
#include <map>

#include "failure.h"
#include "names.h"
#include "pages.h"

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
  const Keys inside = KeysIn(name, 1);
  if (inside.keys.empty()) return entry;
  entry.kind = Kind::kDirectory;
  if (*inside.keys.begin() == marker) entry.version.mtime_nsec = inside.first_mtime_nsec;
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
  return !KeysIn(name, 1).keys.empty();
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
  Pages pages(objects_, directory.bucket, {inside + start, true, 1000, ""}, most_pages_);
  for (Page page; pages.Next(&page);) {
    page.keys.insert(page.keys.end(), page.prefixes.begin(), page.prefixes.end());
    for (const std::string& key : page.keys) {
      const std::string rest = key.substr(inside.size());
      // Not every store cuts keys behind the slash.
      const size_t slash = rest.find('/');
      const std::string name = rest.substr(0, slash);
      if (!IsName(name)) continue;
      // Where there is an object of that name, too, it is what all other ops see.
      if (slash == std::string::npos) found[name] = Kind::kFile;
      found.emplace(name, Kind::kDirectory);
    }
  }
  std::vector<Child> children;
  for (const auto& [name, kind] : found) children.push_back({name, kind});
  return children;
}

Keys Tree::KeysIn(const Name& directory, size_t most) const {
  constexpr size_t kFullPage = 1000;
  Keys found;
  const int page_size = static_cast<int>(std::min(most, kFullPage));
  Pages pages(objects_, directory.bucket, {Inside(directory), false, page_size, ""}, most_pages_);
  for (Page page; found.keys.size() < most && pages.Next(&page);) {
    if (found.keys.empty()) found.first_mtime_nsec = page.first_mtime_nsec;
    found.keys.insert(page.keys.begin(), page.keys.end());
  }
  return found;
}

}  // namespace dragonfly
