#include "support/memory.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace support {

void* Allocate(size_t size) noexcept { return std::malloc(size); }

// TensorFlow frees the arrays and tables that were never there, too: NULL must be welcome, as it is
// to free(3).
void Free(void* block) noexcept { std::free(block); }

char* CopyString(const std::string& text) noexcept {
  char* copy = static_cast<char*>(Allocate(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int CopyNames(const std::vector<std::string>& names, char*** entries) {
  *entries = nullptr;
  if (names.empty()) return 0;
  if (names.size() > static_cast<size_t>(std::numeric_limits<int>::max())) throw std::bad_alloc();
  char** array = static_cast<char**>(Allocate(names.size() * sizeof(char*)));
  if (array == nullptr) throw std::bad_alloc();
  for (size_t k = 0; k < names.size(); ++k) {
    array[k] = CopyString(names[k]);
    if (array[k] == nullptr) {
      while (k > 0) Free(array[--k]);
      Free(array);
      throw std::bad_alloc();
    }
  }
  *entries = array;
  return static_cast<int>(names.size());
}

}  // namespace support
