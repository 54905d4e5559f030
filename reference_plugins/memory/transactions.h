// Transactions: which paths they hold, and what is to become of those.
//
// Not guarded: Filesystem has the lock.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_TRANSACTIONS_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_TRANSACTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tf_filesystem_plugin.h"
#include "tree.h"

namespace memory {

using Names = std::set<std::string, std::less<>>;

struct Transaction {
  TF_TransactionToken token;
  uint64_t number;  // 1 for the first one of the filesystem
  // What there will be at its end, and what will not be there any more.
  Entries staged;
  Names removed;

  bool Changes(std::string_view path) const {
    return staged.count(path) > 0 || removed.count(path) > 0;
  }
};

class Transactions {
 public:
  // `filesystem` is what the token names as its owner. Throws std::bad_alloc.
  Transaction* Start(const TF_Filesystem* filesystem);

  // The transaction with this token, or NULL. The token is looked up by its address: one that
  // nobody gave out may point anywhere.
  Transaction* Known(const TF_TransactionToken* token) const;

  // The transaction that holds the path, or NULL.
  Transaction* Of(std::string_view path) const;

  // Whether a path below `directory` is in a transaction other than `own`.
  bool HoldBelow(std::string_view directory, const Transaction* own) const;

  // The path is in no other one. Throws std::bad_alloc.
  void Hold(const std::string& path, Transaction* transaction) {
    holders_.emplace(path, transaction);
  }

  // Does to the tree what was staged, all at once, and frees the token. Cannot fail: there is
  // memory for everything, and View admits no change that is in the way.
  void End(Transaction* transaction, Tree* tree) noexcept;

  // Frees the token; nothing was staged.
  void Drop(Transaction* transaction) noexcept;

 private:
  uint64_t started_ = 0;
  std::map<const TF_TransactionToken*, std::unique_ptr<Transaction>> open_;
  std::map<std::string, Transaction*, std::less<>> holders_;
};

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_TRANSACTIONS_H_
