// The ops for transactions. What they mean for all other ops, view.h says.

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "filesystem.h"
#include "ops.h"
#include "support/memory.h"
#include "support/paths.h"

namespace memory {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = -1;

int Fail(TF_Status* status, TF_Code code, const char* about, const char* reason) {
  support::SetError(status, code, about, reason);
  return kFailed;
}

// Whether a path names the scheme of another filesystem. Paths come translated, without a scheme;
// one that has a scheme was left alone because it is nobody's here.
bool IsForeign(const char* path) {
  constexpr std::string_view kMark = "://";
  const std::string_view prefix = support::ParseUri(path).prefix;
  return !prefix.empty() && prefix.substr(0, prefix.find(kMark)) != kScheme;
}

// The stored form of a path that may still have its scheme.
int NormalizeOwn(const char* path, std::string* normal) {
  const support::Uri uri = support::ParseUri(path);
  return Normalize(uri.prefix.empty() ? path : ("/" + std::string(uri.path)).c_str(), normal);
}

}  // namespace

int StartTransaction(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                     TF_Status* status) noexcept {
  return support::Guarded(status, kScheme, kFailed, [&] {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    *token = &state.transactions.Start(filesystem)->token;
    support::SetOk(status);
    return kDone;
  });
}

int EndTransaction(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                   TF_Status* status) noexcept {
  return support::Guarded(status, kScheme, kFailed, [&] {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    Transaction* transaction = state.transactions.Known(token);
    if (transaction == nullptr) {
      return Fail(status, TF_NOT_FOUND, kScheme, "no transaction has this token");
    }
    state.transactions.End(transaction, &state.tree);
    support::SetOk(status);
    return kDone;
  });
}

int AddToTransaction(const TF_Filesystem* filesystem, const char* path, TF_TransactionToken* token,
                     TF_Status* status) noexcept {
  return support::Guarded(status, path, kFailed, [&] {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    Transaction* transaction = state.transactions.Known(token);
    if (transaction == nullptr) {
      return Fail(status, TF_NOT_FOUND, path, "no transaction has this token");
    }
    if (IsForeign(path)) {
      return Fail(status, TF_FAILED_PRECONDITION, path, "not a path of this filesystem");
    }
    std::string normal;
    const int error = NormalizeOwn(path, &normal);
    if (error != 0) {
      support::SetErrno(status, error, path);
      return kFailed;
    }
    const Transaction* holder = state.transactions.Of(normal);
    if (holder != nullptr && holder != transaction) {
      return Fail(status, TF_FAILED_PRECONDITION, path, "in another transaction");
    }
    if (holder == nullptr) state.transactions.Hold(normal, transaction);
    support::SetOk(status);
    return kDone;
  });
}

int GetTransactionForPath(const TF_Filesystem* filesystem, const char* path,
                          TF_TransactionToken** token, TF_Status* status) noexcept {
  return support::Guarded(status, path, kFailed, [&] {
    if (IsForeign(path)) {
      return Fail(status, TF_FAILED_PRECONDITION, path, "not a path of this filesystem");
    }
    std::string normal;
    const int error = NormalizeOwn(path, &normal);
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    Transaction* holder = error == 0 ? state.transactions.Of(normal) : nullptr;
    if (holder == nullptr) return Fail(status, TF_NOT_FOUND, path, "in no transaction");
    *token = &holder->token;
    support::SetOk(status);
    return kDone;
  });
}

int GetOrStartTransactionForPath(const TF_Filesystem* filesystem, const char* path,
                                 TF_TransactionToken** token, TF_Status* status) noexcept {
  return support::Guarded(status, path, kFailed, [&] {
    if (IsForeign(path)) {
      return Fail(status, TF_NOT_FOUND, path, "not a path of this filesystem");
    }
    std::string normal;
    const int error = NormalizeOwn(path, &normal);
    if (error != 0) {
      support::SetErrno(status, error, path);
      return kFailed;
    }
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    Transaction* holder = state.transactions.Of(normal);
    if (holder == nullptr) {
      holder = state.transactions.Start(filesystem);
      try {
        state.transactions.Hold(normal, holder);
      } catch (...) {
        state.transactions.Drop(holder);
        throw;
      }
    }
    *token = &holder->token;
    support::SetOk(status);
    return kDone;
  });
}

// Any token has a text; one that nobody gave out is not looked into.
char* DecodeTransactionToken(const TF_Filesystem* filesystem,
                             const TF_TransactionToken* token) noexcept {
  try {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    const Transaction* transaction = state.transactions.Known(token);
    const std::string what = transaction == nullptr
                                 ? "no transaction"
                                 : "transaction " + std::to_string(transaction->number);
    return support::CopyString(what + " of " + state.settings.Name());
  } catch (const std::exception&) {
    return nullptr;  // no memory, and the op has no status to say so
  }
}

}  // namespace memory
