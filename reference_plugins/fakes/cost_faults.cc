// Plugins that give right answers at a price: no clause is broken, and `--measure` shows the price.

#include <string>
#include <vector>

#include "faults.h"
#include "names.h"

namespace fakes {
namespace {

// Each entry is looked up from the front of the listing, as who has only a token for "the next one"
// and loses it does.
int FromTheFront(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  volatile size_t passed = 0;
  for (int k = 0; k < count; ++k)
    for (int before = 0; before < k; ++before)
      passed = passed + (std::string((*entries)[before]) < (*entries)[k] ? 1 : 0);
  return count;
}

// The file is fetched from its beginning to its end, and then the bytes are handed out.
int64_t WholeFile(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  std::vector<char> piece(size_t{256} << 10);
  const Scratch fetched;
  uint64_t at = 0;
  while (Worked(fetched.status())) {
    at += piece.size();
    Reading().read(file, at - piece.size(), piece.size(), piece.data(), fetched.status());
  }
  return Reading().read(file, offset, n, buffer, status);
}

}  // namespace

std::vector<Fault> CostFaults() {
  return {
      {"get_children.from-the-front", "looks each entry up from the front of the listing",
       "none: it is right, and quadratic", With(&Ops::get_children, FromTheFront)},
      {"read.whole-file", "fetches the whole file for every read",
       "none: it is right, and as slow as the file is long", With(&ReaderOps::read, WholeFile)},
  };
}

}  // namespace fakes
