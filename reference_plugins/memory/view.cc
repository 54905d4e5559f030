#include "view.h"

#include <cerrno>
#include <utility>

namespace memory {

const Entry* View::Find(std::string_view path) const {
  if (transaction_ != nullptr) {
    const auto staged = transaction_->staged.find(path);
    if (staged != transaction_->staged.end()) return &staged->second;
    if (transaction_->removed.count(path) > 0) return nullptr;
  }
  return filesystem_.tree.Find(path);
}

int View::Reach(std::string_view path, const Entry** entry) const {
  *entry = Find(path);
  if (*entry != nullptr) return 0;
  // The nearest ancestor that there is settles it. The root always is.
  const Entry* ancestor = nullptr;
  while (ancestor == nullptr) {
    path = ParentOf(path);
    ancestor = Find(path);
  }
  return ancestor->is_directory() ? ENOENT : ENOTDIR;
}

int View::ReachFile(std::string_view path, const Entry** entry) const {
  const int error = Reach(path, entry);
  return error == 0 && (*entry)->is_directory() ? EISDIR : error;
}

int View::HasRoom(std::string_view path) const {
  const std::string_view parent = ParentOf(path);
  const Entry* entry = nullptr;
  const int error = Reach(parent, &entry);
  if (error != 0) return error;
  if (!entry->is_directory()) return ENOTDIR;
  // A directory that another transaction is about to remove must stay as empty as it is.
  const Transaction* holder = filesystem_.transactions.Of(parent);
  return holder != nullptr && holder != transaction_ && holder->Changes(parent) ? EBUSY : 0;
}

bool View::IsEmpty(std::string_view directory) const {
  if (filesystem_.transactions.HoldBelow(directory, transaction_)) return false;
  const std::string stem = StemOf(directory);
  bool empty = true;
  filesystem_.tree.EachChild(directory, [&](std::string_view name) {
    empty = Find(stem + std::string(name)) == nullptr;
    return empty;
  });
  if (!empty || transaction_ == nullptr) return empty;
  const auto below = transaction_->staged.upper_bound(stem);
  return below == transaction_->staged.end() || below->first.compare(0, stem.size(), stem) != 0;
}

bool View::IsOwn(std::string_view path) const {
  return transaction_ == nullptr || transaction_->staged.count(path) > 0;
}

void View::Put(const std::string& path, std::shared_ptr<Content> content) {
  Entry entry;
  entry.content = std::move(content);
  if (transaction_ == nullptr) return filesystem_.tree.Put(path, std::move(entry));
  transaction_->staged.insert_or_assign(path, std::move(entry));
  transaction_->removed.erase(path);
}

void View::Remove(const std::string& path) {
  if (transaction_ == nullptr) return filesystem_.tree.Remove(path);
  transaction_->removed.insert(path);
  transaction_->staged.erase(path);
}

void View::Move(const std::string& from, const std::string& to, std::shared_ptr<Content> content) {
  Names gone = {from};  // so that there is memory for it before anything changes
  Put(to, std::move(content));
  if (transaction_ == nullptr) return filesystem_.tree.Remove(from);
  transaction_->removed.merge(gone);
  transaction_->staged.erase(from);
}

}  // namespace memory
