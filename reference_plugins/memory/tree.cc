#include "tree.h"

#include <cerrno>
#include <climits>
#include <utility>

#include "support/paths.h"

namespace memory {
namespace {

bool BeginsWith(std::string_view text, std::string_view stem) {
  return text.substr(0, stem.size()) == stem;
}

}  // namespace

// Paths come translated, so this changes few of them; names that are relative start at the root.
int Normalize(const char* path, std::string* normal) {
  const std::string_view given = path;
  if (given.empty()) return ENOENT;
  if (given.size() >= PATH_MAX) return ENAMETOOLONG;
  *normal = support::CleanPath("/" + std::string(given));
  for (const std::string_view name : support::Components(*normal)) {
    if (name.size() > NAME_MAX) return ENAMETOOLONG;
  }
  return 0;
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string StemOf(std::string_view directory) {
  return directory == "/" ? "/" : std::string(directory) + "/";
}

Tree::Tree() { entries_.try_emplace("/"); }

const Entry* Tree::Find(std::string_view path) const {
  const auto found = entries_.find(path);
  return found == entries_.end() ? nullptr : &found->second;
}

void Tree::EachChild(std::string_view directory,
                     const std::function<bool(std::string_view)>& use) const {
  const std::string stem = StemOf(directory);
  auto at = entries_.upper_bound(stem);
  while (at != entries_.end() && BeginsWith(at->first, stem)) {
    const std::string_view below = std::string_view(at->first).substr(stem.size());
    const size_t slash = below.find('/');
    if (slash == std::string_view::npos) {
      if (!use(below)) return;
      ++at;
    } else {
      // What lies deeper is stepped over: '0' is the character behind '/'.
      at = entries_.lower_bound(stem + std::string(below.substr(0, slash)) + '0');
    }
  }
}

void Tree::Put(const std::string& path, Entry entry) {
  entries_.insert_or_assign(path, std::move(entry));
  Touch(ParentOf(path));
}

void Tree::Put(Entries::node_type prepared) noexcept {
  Remove(prepared.key());
  Touch(ParentOf(prepared.key()));
  entries_.insert(std::move(prepared));
}

void Tree::Remove(std::string_view path) noexcept {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return;
  Touch(ParentOf(path));
  entries_.erase(found);
}

void Tree::RemoveBelow(std::string_view directory) {
  const std::string stem = StemOf(directory);
  const auto first = entries_.upper_bound(stem);
  auto last = first;
  while (last != entries_.end() && BeginsWith(last->first, stem)) ++last;
  entries_.erase(first, last);
}

// A directory changes when an entry comes or goes.
void Tree::Touch(std::string_view path) noexcept {
  const auto found = entries_.find(path);
  if (found != entries_.end()) found->second.changed = Now();
}

}  // namespace memory
