// A choice: one question that the interface leaves open, decided otherwise than the posix plugin
// does. A plugin that makes such choices is as right as posix is.
//
// To add one: write a function in the file of its theme, and one row in the table at that file's
// end.

#ifndef TFFS_REFERENCE_PLUGINS_CHOICES_CHOICES_H_
#define TFFS_REFERENCE_PLUGINS_CHOICES_CHOICES_H_

#include <string>
#include <type_traits>
#include <vector>

#include "fakes/ops.h"
#include "fakes/path_ops.h"
#include "posix/tables.h"
#include "tf_filesystem_plugin.h"

namespace choices {

struct Choice {
  std::string name;
  std::string question;  // what is open
  std::string decision;  // and how it is decided here
  // Works the choice into the tables; ops that are there already are called from those that take
  // their place, so that choices add up.
  void (*apply)(support::Tables& tables);
  // Whether "all" makes it, too: of those that exclude each other only one can.
  bool in_all = true;
};

// The number that a choice was given, as 50 in `slow:50`.
inline size_t amount = 0;
inline size_t AmountOr(size_t usual) { return amount == 0 ? usual : amount; }

// One table a theme.
std::vector<Choice> FileChoices();
std::vector<Choice> SyncChoices();
std::vector<Choice> PathChoices();
std::vector<Choice> NameChoices();
std::vector<Choice> StatusChoices();
std::vector<Choice> ListingChoices();
std::vector<Choice> SlowChoice();
std::vector<Choice> ProcessChoice();
std::vector<Choice> BoundedChoices();
std::vector<Choice> AbsentChoices();

// Makes the choice `without:OP`, the op is NULL, or one of `unsupported:OP`, `denied:OP` and
// `refused:OP`, it answers an error. Gives whether it is one of these.
bool LeaveOutOp(support::Tables& tables, const std::string& choice);

// Ops that take paths answer RESOURCE_EXHAUSTED where what was chosen gets no memory.
void GuardOps(support::Tables& tables);

using Ops = TF_FilesystemOps;
using ReaderOps = TF_RandomAccessFileOps;
using WriterOps = TF_WritableFileOps;

// What ops get.
using Filesystem = const TF_Filesystem*;
using Path = const char*;
using Status = TF_Status*;

// Remembers what is open, and gives whether something at or below a path is.
void CountOpenFiles(support::Tables& tables);
bool IsOpen(Path path);

// Puts `function` in the place of an entry, and gives what was there.
template <typename Table, typename Function>
Function Replace(support::Tables& tables, Function Table::* entry,
                 std::common_type_t<Function> function) {
  const Function before = fakes::TableOf<Table>(tables).*entry;
  fakes::TableOf<Table>(tables).*entry = function;
  return before;
}

// The type of an op that is not noexcept: what was there need not be.
template <typename Function>
struct MayThrow {
  using Type = Function;
};
template <typename Result, typename... Arguments>
struct MayThrow<Result (*)(Arguments...) noexcept> {
  using Type = Result (*)(Arguments...);
};

// What stood in the place of `op` before.
template <auto op>
typename MayThrow<decltype(op)>::Type before;

template <auto Entry, auto op>
void Take(support::Tables& tables) {
  before<op> = Replace(tables, Entry, op);
}

template <auto rename, auto copy>
void TakeTwoPathOps(support::Tables& tables) {
  Take<&Ops::rename_file, rename>(tables);
  Take<&Ops::copy_file, copy>(tables);
}

// Puts `Around<entry>::Call`, which calls `Around<entry>::before`, around ops that are there.
template <template <auto, typename> class Around>
struct Wrapping {
  support::Tables& tables;

  template <auto Entry>
  void Add(const char* = nullptr) {
    Wrap<Around<Entry, decltype(Entry)>>(Entry);
  }
  template <typename Wrapper, typename Table, typename Function>
  void Wrap(Function Table::* entry) {
    // Core does without those that are not there.
    if (fakes::TableOf<Table>(tables).*entry != nullptr)
      Wrapper::before = Replace(tables, entry, Wrapper::Call);
  }
  // The ops of a path and of an open file whose last argument is a status.
  void AddWithStatus() {
    fakes::ForEachPathOp(*this);
    Add<&ReaderOps::read>();
    Add<&WriterOps::append>();
    Add<&WriterOps::tell>();
    Add<&WriterOps::flush>();
    Add<&WriterOps::sync>();
    Add<&WriterOps::close>();
  }
};

}  // namespace choices

#endif  // TFFS_REFERENCE_PLUGINS_CHOICES_CHOICES_H_
