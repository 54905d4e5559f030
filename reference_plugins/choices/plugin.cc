// The environment variable TFFS_CHOICES names the choices, separated by commas; "all" stands for
// those that can be made together.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "choices.h"

namespace choices {
namespace {

// In the order in which they are made, whatever the order of the names: what is left out comes
// last.
std::vector<Choice> All() {
  std::vector<Choice> all = FileChoices();
  for (const auto& theme :
       {SyncChoices(), PathChoices(), NameChoices(), StatusChoices(), ListingChoices(),
        SlowChoice(), ProcessChoice(), BoundedChoices(), AbsentChoices()}) {
    all.insert(all.end(), theme.begin(), theme.end());
  }
  return all;
}

// A name nobody knows must not pass for a choice that was made.
[[noreturn]] void Unknown(const std::string& name, const std::vector<Choice>& known) {
  for (const Choice& choice : known) {
    std::fprintf(stderr, "%s\t%s\t%s\n", choice.name.c_str(), choice.question.c_str(),
                 choice.decision.c_str());
  }
  std::fprintf(stderr, "TFFS_CHOICES: %s is none of these choices\n", name.c_str());
  std::abort();
}

support::Tables Chosen() {
  support::Tables tables = posix::AllTables();
  const std::vector<Choice> known = All();
  const char* value = std::getenv("TFFS_CHOICES");
  std::istringstream names(value == nullptr ? "" : value);
  std::set<std::string> chosen;
  for (std::string name; std::getline(names, name, ',');) {
    const auto is_it = [&](const Choice& choice) { return choice.name == name; };
    const size_t colon = name.find_last_not_of("0123456789");
    if (colon + 1 < name.size() && name[colon] == ':') {
      amount = std::strtoul(name.c_str() + colon + 1, nullptr, 10);
      name.resize(colon);
    }
    if (LeaveOutOp(tables, name)) continue;
    if (name != "all" && std::none_of(known.begin(), known.end(), is_it)) Unknown(name, known);
    chosen.insert(name);
  }
  for (const Choice& choice : known) {
    if (chosen.count(choice.name) != 0 || (choice.in_all && chosen.count("all") != 0))
      choice.apply(tables);
  }
  GuardOps(tables);
  return tables;
}

}  // namespace
}  // namespace choices

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  try {
    support::Register("posix", choices::Chosen(), info);
  } catch (const std::bad_alloc&) {
    // TensorFlow refuses, with a message, who fills in nothing.
  }
}
