// Transactions, as far as something can be wrong with them.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "faults.h"
#include "losses.h"
#include "support/memory.h"

namespace fakes {
namespace {

int Answer(Status status, TF_Code code) {
  TF_SetStatus(status, code, code == TF_OK ? "" : "the fault says so, or the caller is wrong");
  return code == TF_OK ? 0 : -1;
}

// Tokens, and the paths that are in their transactions. What is done to a path is done at once.
struct Register {
  std::mutex mutex;
  std::vector<std::unique_ptr<TF_TransactionToken>> open;
  std::map<std::string, TF_TransactionToken*> holders;

  bool Knows(const TF_TransactionToken* token) const {
    for (const auto& one : open)
      if (one.get() == token) return true;
    return false;
  }
  TF_TransactionToken* Of(Path path) const {
    const auto found = holders.find(path);
    return found == holders.end() ? nullptr : found->second;
  }
  TF_TransactionToken* Begin(Filesystem filesystem) {
    open.push_back(std::make_unique<TF_TransactionToken>());
    open.back()->owner = const_cast<TF_Filesystem*>(filesystem);
    return open.back().get();
  }
  std::vector<std::string> Release(const TF_TransactionToken* token) {
    std::vector<std::string> paths;
    for (auto at = holders.begin(); at != holders.end();) {
      if (at->second == token) paths.push_back(at->first);
      at = at->second == token ? holders.erase(at) : std::next(at);
    }
    return paths;
  }
};

Register& All() {
  static Register all;
  return all;
}

using Lock = std::lock_guard<std::mutex>;

// The right ops ---------------------------------------------------------------------------------

int Start(Filesystem filesystem, TF_TransactionToken** token, Status status) {
  const Lock lock(All().mutex);
  *token = All().Begin(filesystem);
  return Answer(status, TF_OK);
}

// Ends one, and frees its token or does not.
template <bool frees>
int EndOne(Filesystem, TF_TransactionToken* token, Status status) {
  const Lock lock(All().mutex);
  if (!All().Knows(token)) return Answer(status, TF_NOT_FOUND);
  All().Release(token);
  auto& open = All().open;
  const auto at =
      std::find_if(open.begin(), open.end(), [=](auto& one) { return one.get() == token; });
  if (!frees) static_cast<void>(at->release());
  open.erase(at);
  return Answer(status, TF_OK);
}

constexpr auto End = EndOne<true>;

int Add(Filesystem, Path path, TF_TransactionToken* token, Status status) {
  const Lock lock(All().mutex);
  if (!All().Knows(token)) return Answer(status, TF_NOT_FOUND);
  const TF_TransactionToken* holder = All().Of(path);
  if (holder != nullptr && holder != token) return Answer(status, TF_FAILED_PRECONDITION);
  All().holders[path] = token;
  return Answer(status, TF_OK);
}

int ForPath(Filesystem, Path path, TF_TransactionToken** token, Status status) {
  const Lock lock(All().mutex);
  TF_TransactionToken* holder = All().Of(path);
  if (holder == nullptr) return Answer(status, TF_NOT_FOUND);
  *token = holder;
  return Answer(status, TF_OK);
}

int GetOrStart(Filesystem filesystem, Path path, TF_TransactionToken** token, Status status) {
  const Lock lock(All().mutex);
  TF_TransactionToken*& holder = All().holders[path];
  if (holder == nullptr) holder = All().Begin(filesystem);
  *token = holder;
  return Answer(status, TF_OK);
}

char* Decode(Filesystem, const TF_TransactionToken* token) {
  return support::CopyString(std::to_string(reinterpret_cast<uintptr_t>(token)));
}

// The wrong ones --------------------------------------------------------------------------------

int OtherToken(Filesystem, Path, TF_TransactionToken** token, Status status) {
  static TF_TransactionToken other{};
  *token = &other;
  return Answer(status, TF_OK);
}

int NoToken(Filesystem, TF_TransactionToken**, Status status) { return Answer(status, TF_OK); }

int OldToken(Filesystem filesystem, TF_TransactionToken** token, Status status) {
  {
    const Lock lock(All().mutex);
    if (!All().open.empty()) {
      *token = All().open.front().get();
      return Answer(status, TF_OK);
    }
  }
  return Start(filesystem, token, status);
}

int OneAndNoMore(Filesystem filesystem, TF_TransactionToken** token, Status status) {
  {
    const Lock lock(All().mutex);
    if (!All().open.empty()) return Answer(status, TF_INTERNAL);
  }
  return Start(filesystem, token, status);
}

int EndsAnything(Filesystem, TF_TransactionToken*, Status status) { return Answer(status, TF_OK); }

// The transaction is over, but for its paths.
int EndKeepsPaths(Filesystem, TF_TransactionToken* token, Status status) {
  const Lock lock(All().mutex);
  return Answer(status, All().Knows(token) ? TF_OK : TF_NOT_FOUND);
}

int NobodysToken(Filesystem, TF_TransactionToken** token, Status status) {
  const Lock lock(All().mutex);
  *token = All().Begin(nullptr);
  return Answer(status, TF_OK);
}

// The paths of all transactions go when one ends.
int EndReleasesAll(Filesystem filesystem, TF_TransactionToken* token, Status status) {
  const int returned = End(filesystem, token, status);
  const Lock lock(All().mutex);
  if (returned == 0) All().holders.clear();
  return returned;
}

// Paths are put into the transaction that was started last.
int AddsToTheLast(Filesystem filesystem, Path path, TF_TransactionToken* token, Status status) {
  TF_TransactionToken* last = nullptr;
  {
    const Lock lock(All().mutex);
    if (!All().Knows(token)) return Answer(status, TF_NOT_FOUND);
    last = All().open.back().get();
  }
  return Add(filesystem, path, last, status);
}

// A path is in the transaction of a path that it begins with.
int ForPrefix(Filesystem, Path path, TF_TransactionToken** token, Status status) {
  const Lock lock(All().mutex);
  for (const auto& [held, holder] : All().holders) {
    if (std::strncmp(path, held.c_str(), held.size()) != 0) continue;
    *token = holder;
    return Answer(status, TF_OK);
  }
  return Answer(status, TF_NOT_FOUND);
}

int EndLeaksPaths(Filesystem filesystem, TF_TransactionToken* token, Status status) {
  {
    const Lock lock(All().mutex);
    if (!All().Release(token).empty()) LoseBytes();
  }
  return End(filesystem, token, status);
}

int EndLoses(Filesystem filesystem, TF_TransactionToken* token, Status status) {
  std::vector<std::string> paths;
  {
    const Lock lock(All().mutex);
    paths = All().Release(token);
  }
  for (const std::string& path : paths) unlink(path.c_str());
  return End(filesystem, token, status);
}

int AddsToAnything(Filesystem, Path, TF_TransactionToken*, Status status) {
  return Answer(status, TF_OK);
}

int AddsWhatExists(Filesystem filesystem, Path path, TF_TransactionToken* token, Status status) {
  if (access(path, F_OK) != 0) return Answer(status, TF_NOT_FOUND);
  return Add(filesystem, path, token, status);
}

int AbortsConflicts(Filesystem filesystem, Path path, TF_TransactionToken* token, Status status) {
  Add(filesystem, path, token, status);
  return TF_GetCode(status) == TF_FAILED_PRECONDITION ? Answer(status, TF_ABORTED)
                                                      : Answer(status, TF_GetCode(status));
}

int EveryPath(Filesystem filesystem, Path, TF_TransactionToken** token, Status status) {
  return OldToken(filesystem, token, status);
}

int StartsAgain(Filesystem filesystem, Path path, TF_TransactionToken** token, Status status) {
  Start(filesystem, token, status);
  const Lock lock(All().mutex);
  All().holders[path] = *token;
  return 0;
}

template <int (*right)(Filesystem, Path, TF_TransactionToken**, Status)>
int FailsForeign(Filesystem filesystem, Path path, TF_TransactionToken** token, Status status) {
  if (std::strstr(path, "://") != nullptr) return Answer(status, TF_INTERNAL);
  return right(filesystem, path, token, status);
}

int ErrorReturnsZero(Filesystem filesystem, TF_TransactionToken* token, Status status) {
  End(filesystem, token, status);
  return 0;
}

int ForeignIsUnimplemented(Filesystem filesystem, TF_TransactionToken* token, Status status) {
  const int returned = End(filesystem, token, status);
  return TF_GetCode(status) == TF_NOT_FOUND ? Answer(status, TF_UNIMPLEMENTED) : returned;
}

char* DecodesNothing(Filesystem, const TF_TransactionToken*) { return nullptr; }

char* DecodesAlike(Filesystem, const TF_TransactionToken*) {
  return support::CopyString("a transaction");
}

// The right op, which loses 16 bytes each time.
template <auto right, typename Type = decltype(right)>
struct Loses;
template <auto right, typename Result, typename... Arguments>
struct Loses<right, Result (*)(Arguments...)> {
  static Result Call(Arguments... arguments) {
    LoseBytes();
    return right(arguments...);
  }
};

// Transactions that are right but for one op.
void Transactions(support::Tables& t) {
  t.filesystem.start_transaction = Start;
  t.filesystem.end_transaction = End;
  t.filesystem.add_to_transaction = Add;
  t.filesystem.get_transaction_for_path = ForPath;
  t.filesystem.get_or_start_transaction_for_path = GetOrStart;
  t.filesystem.decode_transaction_token = Decode;
}

template <auto Entry, auto Function>
void But(support::Tables& t) {
  Transactions(t);
  t.filesystem.*Entry = Function;
}

template <auto Entry>
void CannotDo(support::Tables& t) {
  Transactions(t);
  fakes::Answer<TF_INTERNAL>(t.filesystem.*Entry);
}

}  // namespace

std::vector<Fault> TransactionFaults() {
  constexpr const char* kWorks = "what the plugin offers works";
  constexpr const char* kForeign = "a token that nobody gave out is NOT_FOUND";
  constexpr const char* kElsewhere = "a path of another filesystem has a code of its own";
  constexpr const char* kState = "an op leaves nothing allocated";
  constexpr const char* kOwn = "each transaction has a token of its own";
  return {
      {"transactions.cannot-end", "end_transaction answers INTERNAL", kWorks,
       CannotDo<&Ops::end_transaction>},
      {"transactions.cannot-add", "add_to_transaction answers INTERNAL", kWorks,
       CannotDo<&Ops::add_to_transaction>},
      {"transactions.cannot-get-or-start", "get_or_start_transaction_for_path answers INTERNAL",
       kWorks, CannotDo<&Ops::get_or_start_transaction_for_path>},
      {"transactions.other-token", "get_transaction_for_path gives another token", kWorks,
       But<&Ops::get_transaction_for_path, OtherToken>},
      {"transactions.no-token", "start_transaction answers OK and gives no token", kOwn,
       But<&Ops::start_transaction, NoToken>},
      {"transactions.one-token", "start_transaction gives the token of the one that is open", kOwn,
       But<&Ops::start_transaction, OldToken>},
      {"transactions.second-is-internal", "a second start_transaction answers INTERNAL",
       "one at a time is FAILED_PRECONDITION", But<&Ops::start_transaction, OneAndNoMore>},
      {"transactions.no-text", "decode_transaction_token gives NULL", "a token has a text",
       But<&Ops::decode_transaction_token, DecodesNothing>},
      {"transactions.one-text", "all tokens have the same text", "a token has a text of its own",
       But<&Ops::decode_transaction_token, DecodesAlike>},
      {"transactions.ends-anything", "end_transaction takes every token", kForeign,
       But<&Ops::end_transaction, EndsAnything>},
      {"transactions.end-keeps-paths", "paths stay in a transaction that has ended",
       "the end releases its paths", But<&Ops::end_transaction, EndKeepsPaths>},
      {"transactions.nobodys-token", "a token has no owner", kOwn,
       But<&Ops::start_transaction, NobodysToken>},
      {"transactions.end-keeps-the-token", "end_transaction does not free the token",
       "the end frees the token", But<&Ops::end_transaction, EndOne<false>>},
      {"transactions.end-releases-all", "the end of one transaction releases the paths of all",
       kOwn, But<&Ops::end_transaction, EndReleasesAll>},
      {"transactions.adds-to-the-last", "paths are added to the transaction that was started last",
       kOwn, But<&Ops::add_to_transaction, AddsToTheLast>},
      {"transactions.prefix-path", "a path is in the transaction of what its name begins with",
       "a path is in none at first", But<&Ops::get_transaction_for_path, ForPrefix>},
      {"transactions.end-loses", "end_transaction deletes the files that are in it",
       "what was done is there at the end", But<&Ops::end_transaction, EndLoses>},
      {"transactions.adds-to-anything", "add_to_transaction takes every token", kForeign,
       But<&Ops::add_to_transaction, AddsToAnything>},
      {"transactions.adds-what-exists", "add_to_transaction wants the path to exist",
       "a path that is added need not exist", But<&Ops::add_to_transaction, AddsWhatExists>},
      {"transactions.aborts-conflicts", "a path that is in another transaction is ABORTED",
       "a path that is in another transaction is FAILED_PRECONDITION",
       But<&Ops::add_to_transaction, AbortsConflicts>},
      {"transactions.one-for-all", "every path is in the transaction", "a path is in none at first",
       But<&Ops::get_transaction_for_path, EveryPath>},
      {"transactions.starts-again", "get_or_start_transaction_for_path starts one every time",
       "a path that is in a transaction stays in it",
       But<&Ops::get_or_start_transaction_for_path, StartsAgain>},
      {"transactions.foreign-path-is-internal",
       "get_transaction_for_path answers INTERNAL to a path with a scheme", kElsewhere,
       But<&Ops::get_transaction_for_path, FailsForeign<ForPath>>},
      {"transactions.foreign-start-is-internal",
       "get_or_start_transaction_for_path answers INTERNAL to a path with a scheme", kElsewhere,
       But<&Ops::get_or_start_transaction_for_path, FailsForeign<GetOrStart>>},
      {"transactions.foreign-token-is-unimplemented",
       "end_transaction answers UNIMPLEMENTED to a token that nobody gave out", kForeign,
       But<&Ops::end_transaction, ForeignIsUnimplemented>},
      {"transactions.adding-leaks", "add_to_transaction loses 16 bytes", kState,
       But<&Ops::add_to_transaction, Loses<Add>::Call>},
      {"transactions.getting-or-starting-leaks", "get_or_start_transaction_for_path loses 16 bytes",
       kState, But<&Ops::get_or_start_transaction_for_path, Loses<GetOrStart>::Call>},
      {"transactions.asking-leaks", "get_transaction_for_path loses 16 bytes", kState,
       But<&Ops::get_transaction_for_path, Loses<ForPath>::Call>},
      {"transactions.end-leaks-paths", "end_transaction loses 16 bytes where it has a path", kState,
       But<&Ops::end_transaction, EndLeaksPaths>},
      {"transactions.decoding-leaks", "decode_transaction_token loses 16 bytes", kState,
       But<&Ops::decode_transaction_token, Loses<Decode>::Call>},
      {"transactions.error-returns-zero", "end_transaction gives 0 with an error",
       "an error gives -1", But<&Ops::end_transaction, ErrorReturnsZero>},
  };
}

}  // namespace fakes
