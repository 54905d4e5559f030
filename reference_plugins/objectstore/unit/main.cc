// Runs all tests. Ends with 1 where an expectation did not hold, or there is no test.

#include <exception>
#include <iostream>

#include "test.h"

int main() {
  for (const auto& [name, test] : unit::tests()) {
    try {
      test();
    } catch (const std::exception& error) {
      std::cout << name << " ends with: " << error.what() << "\n";
      ++unit::broken();
    }
  }
  return unit::broken() == 0 && !unit::tests().empty() ? 0 : 1;
}
