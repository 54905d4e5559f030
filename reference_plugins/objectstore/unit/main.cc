// Runs the tests that the arguments name, or all; `--list` prints their names. Ends with 1 where an
// expectation did not hold, or a test does not exist.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "test.h"

int main(int count, char** arguments) {
  std::vector<std::string> chosen(arguments + 1, arguments + count);
  if (chosen == std::vector<std::string>{"--list"}) {
    for (const auto& [name, test] : unit::tests()) std::cout << name << "\n";
    return 0;
  }
  if (chosen.empty()) {
    for (const auto& [name, test] : unit::tests()) chosen.push_back(name);
  }
  for (const std::string& name : chosen) {
    const auto found = unit::tests().find(name);
    if (found == unit::tests().end()) {
      std::cout << "there is no test " << name << "\n";
      ++unit::broken();
      continue;
    }
    try {
      found->second();
    } catch (const std::exception& error) {
      std::cout << name << " ends with: " << error.what() << "\n";
      ++unit::broken();
    }
  }
  return unit::broken() == 0 && !chosen.empty() ? 0 : 1;
}
