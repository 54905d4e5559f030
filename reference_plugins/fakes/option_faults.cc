// Transactions and configuration, as far as something can be wrong with them.

#include <string>
#include <vector>

#include "faults.h"
#include "memory.h"

namespace fakes {
namespace {

using Filesystem = const TF_Filesystem*;

void Ok(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }
void NotFound(TF_Status* status) { TF_SetStatus(status, TF_NOT_FOUND, "there is none"); }
void Internal(TF_Status* status) { TF_SetStatus(status, TF_INTERNAL, "the fault says so"); }

// One transaction, which holds whatever is added, is as much as a fault needs.
TF_TransactionToken only_token{};

int Start(Filesystem, TF_TransactionToken** token, TF_Status* status) {
  *token = &only_token;
  Ok(status);
  return 0;
}

int OnToken(TF_TransactionToken* token, TF_Status* status) {
  if (token != &only_token) {
    NotFound(status);
    return -1;
  }
  Ok(status);
  return 0;
}

int End(Filesystem, TF_TransactionToken* token, TF_Status* status) {
  return OnToken(token, status);
}

int Add(Filesystem, const char*, TF_TransactionToken* token, TF_Status* status) {
  return OnToken(token, status);
}

int ForPath(Filesystem, const char*, TF_TransactionToken** token, TF_Status* status) {
  return Start(nullptr, token, status);
}

char* Decode(Filesystem, const TF_TransactionToken*) { return posix::CopyString("a transaction"); }

void Transactions(posix::Tables& t) {
  t.filesystem.start_transaction = Start;
  t.filesystem.end_transaction = End;
  t.filesystem.add_to_transaction = Add;
  t.filesystem.get_transaction_for_path = ForPath;
  t.filesystem.get_or_start_transaction_for_path = ForPath;
  t.filesystem.decode_transaction_token = Decode;
}

int FailsToEnd(Filesystem, TF_TransactionToken*, TF_Status* status) {
  Internal(status);
  return -1;
}

int FailsToAdd(Filesystem, const char*, TF_TransactionToken*, TF_Status* status) {
  Internal(status);
  return -1;
}

int FailsForPath(Filesystem, const char*, TF_TransactionToken**, TF_Status* status) {
  Internal(status);
  return -1;
}

int OtherToken(Filesystem, const char*, TF_TransactionToken** token, TF_Status* status) {
  static TF_TransactionToken other{};
  *token = &other;
  Ok(status);
  return 0;
}

int EndsAnything(Filesystem, TF_TransactionToken*, TF_Status* status) {
  Ok(status);
  return 0;
}

int AddsToAnything(Filesystem, const char*, TF_TransactionToken*, TF_Status* status) {
  Ok(status);
  return 0;
}

int ErrorReturnsZero(Filesystem, TF_TransactionToken*, TF_Status* status) {
  NotFound(status);
  return 0;
}

char* DecodesNothing(Filesystem, const TF_TransactionToken*) { return nullptr; }

// One option, which can be read and set.
constexpr const char* kName = "option";

void Fill(TF_Filesystem_Option* option) {
  *option = {};
  option->name = posix::CopyString(kName);
  option->description = posix::CopyString("the only one");
  option->value =
      static_cast<TF_Filesystem_Option_Value*>(posix::Allocate(sizeof(TF_Filesystem_Option_Value)));
  *option->value = {};
  option->value->type_tag = TF_Filesystem_Option_Type_Int;
  option->value->num_values = 1;
  option->value->values = static_cast<TF_Filesystem_Option_Value_Union*>(
      posix::Allocate(sizeof(TF_Filesystem_Option_Value_Union)));
  option->value->values->int_val = 1;
}

TF_Filesystem_Option* OneOption() {
  auto* option = static_cast<TF_Filesystem_Option*>(posix::Allocate(sizeof(TF_Filesystem_Option)));
  Fill(option);
  return option;
}

void GetAll(Filesystem, TF_Filesystem_Option** options, int* count, TF_Status* status) {
  *options = OneOption();
  *count = 1;
  Ok(status);
}

void SetAll(Filesystem, const TF_Filesystem_Option*, int, TF_Status* status) { Ok(status); }

void GetOne(Filesystem, const char* key, TF_Filesystem_Option** option, TF_Status* status) {
  if (std::string(key) != kName) return NotFound(status);
  *option = OneOption();
  Ok(status);
}

void SetOne(Filesystem, const TF_Filesystem_Option* option, TF_Status* status) {
  if (std::string(option->name) != kName) return NotFound(status);
  Ok(status);
}

void Options(posix::Tables& t) {
  t.filesystem.get_filesystem_configuration = GetAll;
  t.filesystem.set_filesystem_configuration = SetAll;
  t.filesystem.get_filesystem_configuration_option = GetOne;
  t.filesystem.set_filesystem_configuration_option = SetOne;
}

void FailsToGetAll(Filesystem, TF_Filesystem_Option**, int*, TF_Status* status) {
  Internal(status);
}

void FailsToSetAll(Filesystem, const TF_Filesystem_Option*, int, TF_Status* status) {
  Internal(status);
}

void FailsToGetOne(Filesystem, const char*, TF_Filesystem_Option**, TF_Status* status) {
  Internal(status);
}

void FailsToSetOne(Filesystem, const TF_Filesystem_Option*, TF_Status* status) { Internal(status); }

// Transactions or options that are right but for what `change` does.
template <void (*right)(posix::Tables&), void (*change)(TF_FilesystemOps&)>
void But(posix::Tables& t) {
  right(t);
  change(t.filesystem);
}

template <auto Entry, auto Function>
void Put(TF_FilesystemOps& ops) {
  ops.*Entry = Function;
}

template <auto Entry, auto Function>
constexpr auto WithTransactions = But<Transactions, Put<Entry, Function>>;
template <auto Entry, auto Function>
constexpr auto WithOptions = But<Options, Put<Entry, Function>>;

using Ops = TF_FilesystemOps;

}  // namespace

std::vector<Fault> OptionFaults() {
  constexpr const char* kWorks = "what the plugin offers works";
  constexpr const char* kForeign = "a token that nobody gave out is NOT_FOUND";
  return {
      {"transactions.cannot-end", "end_transaction answers INTERNAL", kWorks,
       WithTransactions<&Ops::end_transaction, FailsToEnd>},
      {"transactions.cannot-add", "add_to_transaction answers INTERNAL", kWorks,
       WithTransactions<&Ops::add_to_transaction, FailsToAdd>},
      {"transactions.cannot-get-or-start", "get_or_start_transaction_for_path answers INTERNAL",
       kWorks, WithTransactions<&Ops::get_or_start_transaction_for_path, FailsForPath>},
      {"transactions.other-token", "get_transaction_for_path gives another token", kWorks,
       WithTransactions<&Ops::get_transaction_for_path, OtherToken>},
      {"transactions.no-text", "decode_transaction_token gives NULL", "a token has a text",
       WithTransactions<&Ops::decode_transaction_token, DecodesNothing>},
      {"transactions.ends-anything", "end_transaction takes every token", kForeign,
       WithTransactions<&Ops::end_transaction, EndsAnything>},
      {"transactions.adds-to-anything", "add_to_transaction takes every token", kForeign,
       WithTransactions<&Ops::add_to_transaction, AddsToAnything>},
      {"transactions.one-for-all", "every path is in the transaction", "a path is in none at first",
       Transactions},
      {"transactions.error-returns-zero", "end_transaction gives 0 with an error",
       "an error gives -1", WithTransactions<&Ops::end_transaction, ErrorReturnsZero>},
      {"options.cannot-get-all", "get_filesystem_configuration answers INTERNAL", kWorks,
       WithOptions<&Ops::get_filesystem_configuration, FailsToGetAll>},
      {"options.cannot-set-all", "set_filesystem_configuration answers INTERNAL", kWorks,
       WithOptions<&Ops::set_filesystem_configuration, FailsToSetAll>},
      {"options.cannot-get", "get_filesystem_configuration_option answers INTERNAL", kWorks,
       WithOptions<&Ops::get_filesystem_configuration_option, FailsToGetOne>},
      {"options.cannot-set", "set_filesystem_configuration_option answers INTERNAL", kWorks,
       WithOptions<&Ops::set_filesystem_configuration_option, FailsToSetOne>},
  };
}

}  // namespace fakes
