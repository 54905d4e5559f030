// Names that one op mistakes for others. Of all other names it is right.

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"
#include "names.h"
#include "path_ops.h"
#include "support/paths.h"

namespace fakes {
namespace {

bool Begins(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string Replaced(std::string text, const std::string& old, const std::string& by) {
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

// What an op makes of a path.

std::string DecodesPercent(const std::string& path) {
  std::string text;
  for (size_t k = 0; k < path.size(); ++k) {
    const bool is_code = path[k] == '%' && k + 2 < path.size() && std::isxdigit(path[k + 1]) &&
                         std::isxdigit(path[k + 2]);
    text += is_code ? static_cast<char>(std::stoi(path.substr(k + 1, 2), nullptr, 16)) : path[k];
    if (is_code) k += 2;
  }
  return text;
}

std::string DecodesPlus(const std::string& path) { return Replaced(path, "+", " "); }

std::string DecodesEntities(const std::string& path) {
  return Replaced(Replaced(path, "&lt;", "<"), "&amp;", "&");
}

std::string Formats(const std::string& path) {
  return Replaced(Replaced(Replaced(path, "%s", "(null)"), "%d", "0"), "%%", "%");
}

std::string CutsFragments(const std::string& path) { return path.substr(0, path.find('#')); }

std::string CutsQueries(const std::string& path) { return path.substr(0, path.find('?')); }

std::string TrimsSpaces(const std::string& path) {
  return path.substr(0, path.find_last_not_of(' ') + 1);
}

std::string MakesSmall(const std::string& path) {
  std::string text = path;
  std::transform(text.end() - static_cast<int>(NameIn(path).size()), text.end(),
                 text.end() - static_cast<int>(NameIn(path).size()),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// e and a combining acute accent are one letter.
std::string Composes(const std::string& path) { return Replaced(path, "e\u0301", "\u00e9"); }

std::string TurnsSlashes(const std::string& path) { return Replaced(path, "\\", "/"); }

template <size_t length>
std::string CutsTheLast(const std::string& path) {
  return NameIn(path).size() == length ? path.substr(0, path.size() - 1) : path;
}

// A pattern stands for the first path that it matches.
std::string Expands(const std::string& path) {
  if (path.find_first_of("*?[") == std::string::npos) return path;
  glob_t found;
  std::string first = path;
  if (glob(path.c_str(), 0, nullptr, &found) == 0) first = found.gl_pathv[0];
  globfree(&found);
  return first;
}

using Mangle = std::string (*)(const std::string& path);

template <auto Entry, Mangle mangle, typename... Rest>
auto Mangles(Filesystem filesystem, Path path, Rest... rest) {
  return (Right().*Entry)(filesystem, mangle(path).c_str(), rest...);
}

template <auto Entry, Mangle mangle>
void ManglesTarget(Filesystem filesystem, Path source, Path target, Status status) {
  (Right().*Entry)(filesystem, source, mangle(target).c_str(), status);
}

template <Mangle mangle>
bool ManglesAll(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  Names names;
  for (int k = 0; k < count; ++k) names.push_back(mangle(paths[k]));
  std::vector<char*> pointers;
  for (std::string& name : names) pointers.push_back(name.data());
  return Right().paths_exist(filesystem, pointers.data(), count, statuses);
}

template <Mangle mangle>
struct OfEachOp {
  std::string kind;
  std::string what;
  std::vector<Fault>& faults;

  void Put(const std::string& op, std::function<void(support::Tables&)> apply) {
    faults.push_back({kind + ":" + op, what, "what works for one name works for all that there are",
                      std::move(apply)});
  }

  template <auto Entry>
  void Add(const char* op) {
    // A pattern may hold what is no letter of a name.
    if (std::string(op) == "get_matching_paths") return;
    Put(op, With(Entry, Mangles<Entry, mangle>));
  }

  void Others() {
    Put("rename_file-target", With(&Ops::rename_file, ManglesTarget<&Ops::rename_file, mangle>));
    Put("copy_file-target", With(&Ops::copy_file, ManglesTarget<&Ops::copy_file, mangle>));
    Put("paths_exist", With(&Ops::paths_exist, ManglesAll<mangle>));
  }
};

template <Mangle mangle>
void Add(const std::string& kind, const std::string& what, std::vector<Fault>& faults) {
  OfEachOp<mangle> each{kind, what, faults};
  ForEachPathOp(each);
  each.Others();
}

// Faults of one op

void MovesIntoItself(Filesystem filesystem, Path source, Path target, Status status) {
  Right().path_exists(filesystem, source, status);
  if (Worked(status) && std::string(source) != target && Begins(target, source))
    return TF_SetStatus(status, TF_FAILED_PRECONDITION, "the target is below the source");
  Right().rename_file(filesystem, source, target, status);
}

// Refuses a file whose name begins a sibling's, and moves the sibling all the same.
void RefusesAndMoves(Filesystem filesystem, Path source, Path target, Status status) {
  const std::string directory = support::ParentOf(source);
  for (const std::string& name : Children(filesystem, directory)) {
    const std::string sibling = Joined(directory, name);
    if (sibling == source || sibling == target || !Begins(sibling, source)) continue;
    rename(sibling.c_str(), (target + sibling.substr(std::string(source).size())).c_str());
    return TF_SetStatus(status, TF_FAILED_PRECONDITION, source);
  }
  Right().rename_file(filesystem, source, target, status);
}

void NeedsRoomForTemporary(Filesystem filesystem, Path source, Path target, Status status) {
  Right().path_exists(filesystem, source, status);
  if (Worked(status) && NameIn(target).size() + 4 > 255)
    return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the name of the temporary file is too long");
  Right().copy_file(filesystem, source, target, status);
}

// A directory is known by the first key that begins with its name.
bool KnowsByTheFirstKey(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  for (const std::string& name : Children(filesystem, support::ParentOf(path))) {
    const std::string key = Joined(support::ParentOf(path), name);
    if (!is_directory || !Begins(key, path) || key >= std::string(path) + "/" || key == path)
      continue;
    TF_SetStatus(status, TF_NOT_FOUND, path);
    return false;
  }
  return is_directory;
}

void DeletesWhatMatches(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                        Status status) {
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status)) return;
  for (std::string match; (match = Expands(path)) != path;) {
    const Scratch scratch;
    DeleteTree(filesystem, match, scratch.status());
    if (!Worked(scratch.status())) return;
  }
}

// What begins with two dots leads upwards.
char* GoesUp(Filesystem filesystem, Path uri) {
  std::string text = uri;
  for (size_t at = 0; (at = text.find("/..", at)) != std::string::npos; at += 3) {
    const size_t end = std::min(text.find('/', at + 1), text.size());
    text.replace(at, end - at, "/..");
  }
  return Right().translate_name(filesystem, text.c_str());
}

template <Mangle mangle>
void ListsMangled(Filesystem, const std::string&, Names& names) {
  std::transform(names.begin(), names.end(), names.begin(), mangle);
}

std::string KeepsEntities(const std::string& name) {
  return Replaced(Replaced(name, "&", "&amp;"), "<", "&lt;");
}

void LeavesOut200(Filesystem, const std::string&, Names& names) {
  LeaveOut(names, [](const std::string& name) { return name.size() == 200; });
}

std::string CutsAt127(const std::string& name) { return name.substr(0, 127); }

}  // namespace

std::vector<Fault> MangledFaults() {
  constexpr const char* kAll = "what works for one name works for all that there are";
  constexpr const char* kOthers = "other paths are left alone";
  constexpr const char* kListed = "every child is listed, once";
  std::vector<Fault> faults = {
      {"names.moves-into-itself",
       "rename_file takes a target that begins with the source's name for one below it", kAll,
       With(&Ops::rename_file, MovesIntoItself)},
      {"names.refuses-and-moves",
       "rename_file refuses a file whose name begins a sibling's, and the sibling is gone", kOthers,
       With(&Ops::rename_file, RefusesAndMoves)},
      {"names.long-temporary", "copy_file needs room for .tmp behind the target's name", kAll,
       With(&Ops::copy_file, NeedsRoomForTemporary)},
      {"names.first-key-decides",
       "is_directory knows no directory x where there is a sibling x-1, which comes before x/",
       kAll, With(&Ops::is_directory, KnowsByTheFirstKey)},
      {"names.deletes-what-matches",
       "delete_recursively takes a name for a pattern, too, and deletes all that it matches",
       kOthers, With(&Ops::delete_recursively, DeletesWhatMatches)},
      {"names.dots-lead-upwards", "translate_name takes a name that begins with two dots for ..",
       "different names stay different", With(&Ops::translate_name, GoesUp)},
      {"names.lists-entities", "get_children lists & and < as XML writes them", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, ListsMangled<KeepsEntities>, 1>)},
      {"names.lists-decoded", "get_children lists %41 as A", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, ListsMangled<DecodesPercent>, 1>)},
      {"names.lists-127-bytes", "get_children cuts names after 127 bytes", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, ListsMangled<CutsAt127>, 1>)},
      {"names.leaves-out-200-bytes", "get_children leaves out names of exactly 200 bytes", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, LeavesOut200, 1>)},
  };
  Add<DecodesPercent>("percent-decoded", "takes %41 in a path for A", faults);
  Add<DecodesPlus>("plus-is-a-space", "takes a plus in a path for a space", faults);
  Add<DecodesEntities>("entities-decoded", "takes &amp;amp; in a path for &amp;", faults);
  Add<Formats>("formatted", "takes %s in a path for a directive, and %% for %", faults);
  Add<CutsFragments>("cut-at-hash", "cuts a path at #", faults);
  Add<CutsQueries>("cut-at-question", "cuts a path at ?", faults);
  Add<TrimsSpaces>("spaces-trimmed", "cuts spaces at the end of a path", faults);
  Add<MakesSmall>("small-letters", "takes capitals in a name for small letters", faults);
  Add<Composes>("composed", "takes a letter and its combining accent for one letter", faults);
  Add<TurnsSlashes>("backslash-is-slash", "takes a backslash in a path for a slash", faults);
  Add<CutsTheLast<16>>("sixteenth-lost", "cuts a name of 16 bytes to 15", faults);
  Add<CutsTheLast<101>>("101st-lost", "cuts a name of 101 bytes to 100", faults);
  Add<Expands>("expanded", "takes a path for a pattern, and its first match for the path", faults);
  return faults;
}

}  // namespace fakes
