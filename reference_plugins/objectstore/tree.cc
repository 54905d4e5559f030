#include "tree.h"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <utility>

#include "failure.h"
#include "names.h"
#include "parallel.h"
#include "text.h"

namespace objectstore {
namespace {

// Names that no path can have: translate_name takes them away, as of a key like a//b, or a path
// ends within them.
bool IsName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('\0') == std::string::npos;
}

// A guess, from a dot in the last component: it decides which question is asked first, and never
// what the answer is.
bool LooksLikeFile(const Name& name) {
  const size_t slash = name.key.rfind('/');
  const size_t first = slash == std::string::npos ? 0 : slash + 1;
  return name.key.find('.', first + 1) != std::string::npos;
}

}  // namespace

Answer Tree::Ask(const Name& name) const {
  const auto known = objects_.Recall(name);
  return known ? *known : objects_.Head(name);
}

Entry Tree::Look(const Name& name) const {
  Entry entry;
  if (name.key.empty()) {
    if (objects_.HasBucket(name.bucket)) entry.kind = Kind::kDirectory;
    return entry;
  }
  const auto list = [&] { return KeysIn(name, 1); };
  std::future<Keys> meanwhile;
  if (!LooksLikeFile(name) && !objects_.Recall(name)) meanwhile = Meanwhile(list);
  if (Answer version = Ask(name)) {
    entry.kind = Kind::kFile;
    entry.version = std::move(*version);
    return entry;
  }
  const std::string marker = Inside(name);
  const Keys inside = meanwhile.valid() ? meanwhile.get() : list();
  if (inside.keys.empty()) return entry;
  entry.kind = Kind::kDirectory;
  if (*inside.keys.begin() == marker) entry.version.mtime_nsec = inside.first_mtime_nsec;
  return entry;
}

Version Tree::FileNow(const Name& name) const {
  return FileOf(name, name.key.empty() ? std::nullopt : objects_.Head(name));
}

Version Tree::File(const Name& name) const {
  return FileOf(name, name.key.empty() ? std::nullopt : Ask(name));
}

Version Tree::FileOf(const Name& name, Answer answer) const {
  if (answer) return std::move(*answer);
  if (IsDirectory(name)) throw Failure(TF_FAILED_PRECONDITION, "this is a directory");
  throw Failure(TF_NOT_FOUND, "there is no such object");
}

Kind Tree::KindOf(const Name& name) const {
  constexpr int kGlance = 100;
  if (name.key.empty()) return Look(name).kind;
  if (const auto known = objects_.Recall(name); known && *known) return Kind::kFile;
  const std::string marker = Inside(name);
  Page page = objects_.List(name.bucket, {name.key, true, kGlance, ""});
  page.keys.insert(page.keys.end(), page.prefixes.begin(), page.prefixes.end());
  Kind kind = Kind::kNothing;
  for (const std::string& key : page.keys) {
    if (key == name.key) return Kind::kFile;
    if (BeginsWith(key, marker)) kind = Kind::kDirectory;
  }
  return kind == Kind::kNothing && !page.next.empty() ? Look(name).kind : kind;
}

void Tree::DemandDirectory(const Name& name) const {
  const Kind kind = KindOf(name);
  if (kind == Kind::kFile) throw Failure(TF_FAILED_PRECONDITION, "this is a file");
  if (kind == Kind::kNothing) throw Failure(TF_NOT_FOUND, "there is no such directory");
}

bool Tree::IsDirectory(const Name& name) const {
  if (name.key.empty()) return objects_.HasBucket(name.bucket);
  return !KeysIn(name, 1).keys.empty();
}

void Tree::DemandRoomForFile(const Name& name) const {
  auto parent = Meanwhile([&] { DemandParentIsNoFile(name); });
  if (name.key.empty() || KindOf(name) == Kind::kDirectory) {
    throw Failure(TF_FAILED_PRECONDITION, "this is a directory");
  }
  parent.get();
}

void Tree::DemandParentIsNoFile(const Name& name) const {
  const Name parent = ParentOf(name);
  if (!parent.key.empty() && Ask(parent)) {
    throw Failure(TF_FAILED_PRECONDITION, "the parent is a file");
  }
}

Place Tree::PlaceOf(const Name& name) const {
  constexpr int kGlance = 100;
  const Name parent = ParentOf(name);
  const std::string marker = Inside(name);
  Page page;
  try {
    page = objects_.List(parent.bucket, {Inside(parent), true, kGlance, ""});
  } catch (const Failure& failure) {
    if (failure.code() != TF_NOT_FOUND) throw;
    return {};  // there is no such bucket
  }
  page.keys.insert(page.keys.end(), page.prefixes.begin(), page.prefixes.end());
  Place place;
  place.in_directory = parent.key.empty() || !page.keys.empty();
  for (const std::string& key : page.keys) {
    if (key == name.key) {
      place.kind = Kind::kFile;
    } else if (BeginsWith(key, marker) && place.kind == Kind::kNothing) {
      place.kind = Kind::kDirectory;
    }
  }
  if (place.kind == Kind::kNothing && !page.next.empty()) {
    place.kind = Look(name).kind;
    place.in_directory = place.in_directory || IsDirectory(parent);
  }
  return place;
}

Listing Tree::Children(const Name& directory, const std::string& start) const {
  const std::string inside = Inside(directory);
  Listing listing;
  std::map<std::string, Kind> found;
  Pages pages(objects_, directory.bucket, {inside + start, true, 1000, ""}, most_pages_);
  for (Page page; pages.Next(&page);) {
    page.keys.insert(page.keys.end(), page.prefixes.begin(), page.prefixes.end());
    for (const std::string& key : page.keys) {
      listing.is_there = true;
      const std::string rest = key.substr(inside.size());
      // Not every store cuts keys behind the slash.
      const size_t slash = rest.find('/');
      const std::string name = rest.substr(0, slash);
      if (!IsName(name)) continue;
      // Where there is an object of that name, too, it is what most other ops see.
      if (slash == std::string::npos) found[name] = Kind::kFile;
      found.emplace(name, Kind::kDirectory);
    }
  }
  for (const auto& [name, kind] : found) listing.children.push_back({name, kind});
  return listing;
}

Pages Tree::PagesOf(const Name& directory) const {
  return Pages(objects_, directory.bucket, {Inside(directory), false, 1000, ""}, most_pages_);
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

}  // namespace objectstore
