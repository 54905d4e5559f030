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

// One table a theme.
std::vector<Choice> FileChoices();
std::vector<Choice> SyncChoices();
std::vector<Choice> PathChoices();
std::vector<Choice> NameChoices();
std::vector<Choice> StatusChoices();
std::vector<Choice> ListingChoices();
std::vector<Choice> SlowChoice();
std::vector<Choice> ProcessChoice();
std::vector<Choice> AbsentChoices();

// Ops that take paths answer RESOURCE_EXHAUSTED where what was chosen gets no memory.
void GuardOps(support::Tables& tables);

// Puts `function` in the place of an entry and keeps what was there.
template <typename Table, typename Function>
Function Replace(Table& table, Function Table::* entry, std::common_type_t<Function> function) {
  const Function before = table.*entry;
  table.*entry = function;
  return before;
}

}  // namespace choices

#endif  // TFFS_REFERENCE_PLUGINS_CHOICES_CHOICES_H_
