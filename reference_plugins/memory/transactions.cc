#include "transactions.h"

#include <utility>

namespace memory {

Transaction* Transactions::Start(const TF_Filesystem* filesystem) {
  auto made = std::make_unique<Transaction>();
  made->token = {made.get(), const_cast<TF_Filesystem*>(filesystem)};
  made->number = started_ + 1;
  Transaction* transaction = made.get();
  open_.emplace(&transaction->token, std::move(made));
  ++started_;
  return transaction;
}

Transaction* Transactions::Known(const TF_TransactionToken* token) const {
  const auto found = open_.find(token);
  return found == open_.end() ? nullptr : found->second.get();
}

Transaction* Transactions::Of(std::string_view path) const {
  const auto found = holders_.find(path);
  return found == holders_.end() ? nullptr : found->second;
}

bool Transactions::HoldBelow(std::string_view directory, const Transaction* own) const {
  const std::string stem = StemOf(directory);
  for (auto at = holders_.upper_bound(stem);
       at != holders_.end() && at->first.compare(0, stem.size(), stem) == 0; ++at) {
    if (at->second != own) return true;
  }
  return false;
}

void Transactions::End(Transaction* transaction, Tree* tree) noexcept {
  for (const std::string& path : transaction->removed) tree->Remove(path);
  Entries& staged = transaction->staged;
  while (!staged.empty()) tree->Put(staged.extract(staged.begin()));
  Drop(transaction);
}

void Transactions::Drop(Transaction* transaction) noexcept {
  for (auto at = holders_.begin(); at != holders_.end();) {
    at = at->second == transaction ? holders_.erase(at) : std::next(at);
  }
  open_.erase(&transaction->token);
}

}  // namespace memory
