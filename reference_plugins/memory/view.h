// The tree as an op sees it.
//
// An op that changes a path which is in a transaction works on what the transaction has staged:
// it sees the staged paths as they will be, and its own changes are staged too. All other ops see
// the tree as it is, and change it at once.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_VIEW_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_VIEW_H_

#include <memory>
#include <string>
#include <string_view>

#include "filesystem.h"

namespace memory {

class View {
 public:
  // For ops that change nothing.
  explicit View(Filesystem& filesystem) : filesystem_(filesystem) {}
  // For ops that change `path`.
  View(Filesystem& filesystem, std::string_view path)
      : filesystem_(filesystem), transaction_(filesystem.transactions.Of(path)) {}

  // NULL where there is nothing.
  const Entry* Find(std::string_view path) const;

  // What is behind a path. Gives 0, ENOENT, or, where a file is among its ancestors, ENOTDIR.
  int Reach(std::string_view path, const Entry** entry) const;
  // The same, and EISDIR where it is a directory.
  int ReachFile(std::string_view path, const Entry** entry) const;

  // Whether a path that is missing may come into being: 0, or the errno value that says why not.
  int HasRoom(std::string_view path) const;

  // Whether nothing is in a directory, and no transaction is going to put something there.
  bool IsEmpty(std::string_view directory) const;

  // Whether what is appended to a file is seen through this view only.
  bool IsOwn(std::string_view path) const;

  // The transaction that the changes go to; NULL where they are made at once.
  const Transaction* transaction() const { return transaction_; }

  // Each throws std::bad_alloc, and has changed nothing then.
  void Put(const std::string& path, std::shared_ptr<Content> content);
  void Remove(const std::string& path);
  // Puts `content` at `to` and removes `from`.
  void Move(const std::string& from, const std::string& to, std::shared_ptr<Content> content);

 private:
  Filesystem& filesystem_;
  Transaction* transaction_ = nullptr;
};

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_VIEW_H_
