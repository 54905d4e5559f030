// Faults that show only for some names: odd ones, long ones, deep ones.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "faults.h"
#include "names.h"
#include "path_ops.h"
#include "support/paths.h"

namespace fakes {
namespace {

bool HasPlus(const std::string& path) { return path.find('+') != std::string::npos; }

bool IsBeyondAscii(const std::string& path) {
  return std::any_of(path.begin(), path.end(),
                     [](char c) { return static_cast<signed char>(c) < 0; });
}

bool IsDeep(const std::string& path) { return std::count(path.begin(), path.end(), '/') > 80; }

bool IsLong(const std::string& path) { return path.size() > 1024; }

bool HasNameOf77(const std::string& path) { return path.size() - (path.rfind('/') + 1) == 77; }

bool HasPathOf777(const std::string& path) { return path.size() == 777; }

using Some = bool (*)(const std::string& path);

// An op that fails for some paths.
template <auto Entry, Some some, typename Type = decltype(Entry)>
struct FailsFor;
template <auto Entry, Some some, typename Result, typename... Rest>
struct FailsFor<Entry, some, Result (*Ops::*)(Filesystem, Path, Rest...)> {
  static Result Call(Filesystem filesystem, Path path, Rest... rest) {
    if (!some(path)) return (Right().*Entry)(filesystem, path, rest...);
    TF_SetStatus(std::get<sizeof...(Rest) - 1>(std::tuple(rest...)), TF_INTERNAL, path);
    if constexpr (std::is_same_v<std::tuple<Rest...>, std::tuple<uint64_t*, uint64_t*, Status>>) {
      const auto [files, dirs, status] = std::tuple(rest...);
      *files = 0;
      *dirs = 1;
    } else if constexpr (std::is_same_v<Result, bool>) {
      return false;
    } else if constexpr (!std::is_void_v<Result>) {
      return -1;
    }
  }
};

// An op that makes a directory beside the path when it fails.
template <auto Entry, typename... Rest>
auto ChangesOnError(Filesystem filesystem, Path path, Rest... rest) {
  struct Afterwards {
    Filesystem filesystem;
    std::string beside;
    Status status;
    ~Afterwards() {
      if (Worked(status)) return;
      Right().create_dir(filesystem, beside.c_str(), Scratch().status());
    }
  };
  const Afterwards afterwards{filesystem, Joined(support::ParentOf(path), "made"),
                              std::get<sizeof...(Rest) - 1>(std::tuple(rest...))};
  return (Right().*Entry)(filesystem, path, rest...);
}

struct ChangingOnError {
  std::vector<Fault>& faults;

  template <auto Entry>
  void Add(const char* op) {
    faults.push_back({std::string("changes-on-error:") + op,
                      "makes a directory beside the path when it fails",
                      "an op that fails changes nothing", With(Entry, ChangesOnError<Entry>)});
  }
};

template <Some some>
struct OfEachOp {
  std::string kind;
  std::string what;
  std::vector<Fault>& faults;

  template <auto Entry>
  void Add(const char* op) {
    faults.push_back({kind + ":" + op, what, "what works for one name works for all that there are",
                      With(Entry, FailsFor<Entry, some>::Call)});
  }
};

// A name that is too long is refused, and a file of what fits is there all the same.
void RefusesAndMakes(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (TF_GetCode(status) != TF_INVALID_ARGUMENT) return;
  const std::string cut = Joined(support::ParentOf(path), "cut");
  TF_WritableFile other{};
  const Scratch made;
  Right().new_writable_file(filesystem, cut.c_str(), &other, made.status());
  if (Worked(made.status())) Writing().cleanup(&other);
}

// Names are cleaned at their end, and nowhere else.
char* CleansTheEnd(Filesystem filesystem, Path uri) {
  const std::string path(support::ParseUri(uri).path);
  const bool is_odd_inside =
      path.find("//") != std::string::npos || path.find("/./") != std::string::npos;
  if (is_odd_inside && path.back() != '/' && path.back() != '.') return support::CopyString(path);
  return Right().translate_name(filesystem, uri);
}

}  // namespace

std::vector<Fault> NameFaults() {
  std::vector<Fault> faults = {
      {"names.refused-and-made", "a name that is too long is refused, and another file is made",
       "what is refused changes nothing", With(&Ops::new_writable_file, RefusesAndMakes)},
      {"translate_name.cleans-the-end", "cleans a name of // and . only at its end",
       "names are cleaned of //, . and ..", With(&Ops::translate_name, CleansTheEnd)},
  };
  ForEachPathOp(
      OfEachOp<HasPlus>{"plus-fails", "answers INTERNAL where a path has a plus", faults});
  ForEachPathOp(OfEachOp<IsBeyondAscii>{"beyond-ascii-fails",
                                        "answers INTERNAL where a path is beyond ASCII", faults});
  ForEachPathOp(OfEachOp<IsDeep>{"deep-fails",
                                 "answers INTERNAL where a path has more than 80 levels", faults});
  ForEachPathOp(OfEachOp<IsLong>{
      "long-fails", "answers INTERNAL where a path has more than 1,024 bytes", faults});
  ForEachPathOp(OfEachOp<HasNameOf77>{
      "name-of-77-fails", "answers INTERNAL where a name has exactly 77 bytes", faults});
  ForEachPathOp(OfEachOp<HasPathOf777>{
      "path-of-777-fails", "answers INTERNAL where a path has exactly 777 bytes", faults});
  ForEachPathOp(ChangingOnError{faults});
  return faults;
}

}  // namespace fakes
