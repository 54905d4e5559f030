// A plugin that knows one spelling of each path, as a store with a table of names does:
// translate_name cleans nothing, and "a//b", "a/./b" and "a/b" are three names.

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "faults.h"
#include "path_ops.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

// The path under which the kernel keeps names that it would otherwise leave out: nothing, "." and
// "..".
std::string Kept(std::string_view path) {
  if (path.size() < 2) return std::string(path);
  std::string kept;
  for (size_t from = 1; from <= path.size();) {
    const size_t to = std::min(path.find('/', from), path.size());
    const std::string_view name = path.substr(from, to - from);
    kept += '/';
    if (name.empty() || name == "." || name == "..") kept += '\x1e';
    kept += name;
    from = to + 1;
  }
  return kept;
}

// An op that looks its paths up as they are.
template <auto Entry, typename Type = decltype(Entry)>
struct AsItIs;
template <auto Entry, typename Result, typename... Rest>
struct AsItIs<Entry, Result (*Ops::*)(Filesystem, Path, Rest...)> {
  static Result Call(Filesystem filesystem, Path path, Rest... rest) {
    return (Right().*Entry)(filesystem, Kept(path).c_str(), rest...);
  }
};
template <auto Entry>
struct AsItIs<Entry, decltype(Ops::rename_file) Ops::*> {
  static void Call(Filesystem filesystem, Path source, Path target, Status status) {
    (Right().*Entry)(filesystem, Kept(source).c_str(), Kept(target).c_str(), status);
  }
};

struct LooksUpAsItIs {
  Ops& ops;

  template <auto Entry>
  void Add(const char*) {
    // A pattern is the URI that a user wrote.
    if constexpr (!std::is_same_v<decltype(Entry), decltype(&Ops::get_matching_paths)>)
      ops.*Entry = AsItIs<Entry>::Call;
  }
};

char* NotCleaned(Filesystem, Path uri) {
  return support::CopyString(std::string(support::ParseUri(uri).path));
}

}  // namespace

std::vector<Fault> SpellingFaults() {
  return {
      {"translate_name.keeps-spellings", "cleans no name, and looks names up as they are",
       "names are cleaned of //, . and ..",
       [](support::Tables& t) {
         t.filesystem.translate_name = NotCleaned;
         t.filesystem.paths_exist = nullptr;
         ForEachPathOp(LooksUpAsItIs{t.filesystem});
       }},
  };
}

}  // namespace fakes
