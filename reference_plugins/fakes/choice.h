// The environment variable TFFS_FAULT says which fault a fake has.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_CHOICE_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_CHOICE_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "faults.h"

namespace fakes {

// What TFFS_FAULT says; empty where it is unset.
inline std::string Chosen() {
  const char* value = std::getenv("TFFS_FAULT");
  return value == nullptr ? "" : value;
}

// The fault of this name. A name nobody knows must not pass for a plugin without faults: it prints
// a line "name<tab>what<tab>breaks" for each that is known, and aborts.
template <typename Subject>
const FaultIn<Subject>& Named(const std::vector<FaultIn<Subject>>& faults,
                              const std::string& name) {
  for (const auto& fault : faults)
    if (fault.name == name) return fault;
  std::fprintf(stderr, "TFFS_FAULT=%s names none of these faults\n", name.c_str());
  for (const auto& fault : faults) {
    std::fprintf(stderr, "%s\t%s\t%s\n", fault.name.c_str(), fault.what.c_str(),
                 fault.breaks.c_str());
  }
  std::abort();
}

// Works the fault that TFFS_FAULT names into `subject`; none where the variable is unset or empty.
template <typename Subject>
void ApplyChosen(const std::vector<FaultIn<Subject>>& faults, Subject& subject) {
  const std::string chosen = Chosen();
  if (!chosen.empty()) Named(faults, chosen).apply(subject);
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_CHOICE_H_
