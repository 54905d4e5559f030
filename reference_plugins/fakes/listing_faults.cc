// Listing, and matching patterns.

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "faults.h"
#include "names.h"
#include "support/glob.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

// Edits of what get_children gives.

void FullPaths(Filesystem, const std::string& path, Names& names) {
  for (std::string& name : names) name = Joined(path, name);
}

void Dots(Filesystem, const std::string&, Names& names) {
  names.push_back(".");
  names.push_back("..");
}

void Slash(Filesystem filesystem, const std::string& path, Names& names) {
  for (std::string& name : names) {
    if (!IsDirectory(filesystem, Joined(path, name))) name += '/';
  }
}

void Recursive(Filesystem filesystem, const std::string& path, Names& names) {
  // The list grows while it is walked.
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string name = names[k];
    for (const std::string& child : Children(filesystem, Joined(path, name)))
      names.push_back(Joined(name, child));
  }
}

void SkipsHidden(Filesystem, const std::string&, Names& names) {
  LeaveOut(names, [](const std::string& name) { return name.front() == '.'; });
}

void SkipsDirectories(Filesystem filesystem, const std::string& path, Names& names) {
  LeaveOut(names, [&](const auto& name) { return IsDirectory(filesystem, Joined(path, name)); });
}

template <size_t page>
void FirstPage(Filesystem, const std::string&, Names& names) {
  names.resize(std::min(names.size(), page));
}

// What was seen of files when their directory was listed.
std::mutex remembered_mutex;
std::map<std::string, TF_FileStatistics> remembered;

void Remembers(Filesystem filesystem, const std::string& path, Names& names) {
  const std::lock_guard<std::mutex> lock(remembered_mutex);
  for (const std::string& name : names) {
    const std::string child = Joined(path, name);
    TF_FileStatistics facts;
    Right().stat(filesystem, child.c_str(), &facts, Scratch().status());
    remembered[child] = facts;
  }
}

int64_t RememberedSize(Filesystem filesystem, Path path, Status status) {
  const int64_t size = Right().get_file_size(filesystem, path, status);
  if (!Worked(status)) return size;
  const std::lock_guard<std::mutex> lock(remembered_mutex);
  const auto known = remembered.find(path);
  return known == remembered.end() ? size : known->second.length;
}

void RememberedExists(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(remembered_mutex);
  if (remembered.count(path) != 0) TF_SetStatus(status, TF_OK, "");
}

void Twice(Filesystem, const std::string&, Names& names) {
  if (!names.empty()) names.push_back(names.front());
}

void Stale(Filesystem, const std::string& path, Names& names) {
  static std::mutex mutex;
  static std::map<std::string, Names> seen;
  const std::lock_guard<std::mutex> lock(mutex);
  names = seen.emplace(path, names).first->second;
}

int CountOnError(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  return count < 0 ? support::CopyNames({"stale"}, entries) : count;
}

int ZeroOnError(Filesystem filesystem, Path path, char*** entries, Status status) {
  return std::max(0, Right().get_children(filesystem, path, entries, status));
}

int LeaksOnError(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < 0) support::CopyNames({"lost"}, entries);
  return count;
}

// The same array for the same directory, which the caller has freed by then.
int SharedArray(Filesystem filesystem, Path path, char*** entries, Status status) {
  static std::map<std::string, std::pair<char**, int>> given;
  const auto known = given.find(path);
  if (known != given.end()) {
    *entries = known->second.first;
    TF_SetStatus(status, TF_OK, "");
    return known->second.second;
  }
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count > 0) given[path] = {*entries, count};
  return count;
}

int SharedEntries(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < 2) return count;
  support::Free((*entries)[1]);
  (*entries)[1] = (*entries)[0];
  return count;
}

int NullEntry(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < 1) return count;
  support::Free((*entries)[0]);
  (*entries)[0] = nullptr;
  return count;
}

int OneMore(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < 0) return count;
  Names names = Taken(count, *entries);
  names.push_back("padding");
  support::CopyNames(names, entries);
  support::Free((*entries)[count]);
  (*entries)[count] = nullptr;
  return count + 1;
}

int MissingIsEmpty(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (TF_GetCode(status) != TF_NOT_FOUND) return count;
  TF_SetStatus(status, TF_OK, "");
  return 0;
}

int FileListsItself(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  const Scratch exists;
  Right().path_exists(filesystem, path, exists.status());
  if (!Worked(exists.status()) || IsDirectory(filesystem, path)) return count;
  TF_SetStatus(status, TF_OK, "");
  const std::string whole = path;
  return support::CopyNames({NameIn(whole)}, entries);
}

// get_matching_paths

// Everything that `matches` accepts, from the last directory in front of a glob character to
// `deeper` levels below the pattern's own.
template <bool (*matches)(const std::string& pattern, const std::string& path), int deeper = 0>
int Walked(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const support::Uri uri = support::ParseUri(pattern);
  const std::string path = support::CleanPath(uri.path.empty() ? "/" : uri.path);
  const size_t glob = support::FindGlobCharacter(path);
  if (glob == std::string::npos)
    return Right().get_matching_paths(filesystem, pattern, entries, status);
  const size_t start = path.find_last_of('/', glob) + 1;
  Names level = {path.substr(0, start)};
  Names results;
  for (auto left = std::count(path.begin() + static_cast<int>(start), path.end(), '/') + deeper;
       left >= 0; --left) {
    Names below;
    for (const std::string& directory : level) {
      for (const std::string& name : Children(filesystem, directory.empty() ? "." : directory)) {
        below.push_back(Joined(directory, name));
        if (matches(path, below.back())) results.push_back(std::string(uri.prefix) + below.back());
      }
    }
    level = std::move(below);
  }
  std::sort(results.begin(), results.end());
  TF_SetStatus(status, TF_OK, "");
  return support::CopyNames(results, entries);
}

template <int flags>
bool Matches(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), flags) == 0;
}

bool PartialMatch(const std::string& pattern, const std::string& path) {
  return fnmatch((pattern + "*").c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

// Brackets stand for themselves.
bool NoClasses(const std::string& pattern, const std::string& path) {
  std::string plain;
  for (size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] == '[') plain += '\\';
    plain += pattern[k];
    if (pattern[k] == '\\' && k + 1 < pattern.size()) plain += pattern[++k];
  }
  return fnmatch(plain.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

// A question mark matches nothing at all, too.
bool QuestionIsOptional(const std::string& pattern, const std::string& path) {
  if (fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0) return true;
  const size_t mark = pattern.find('?');
  return mark != std::string::npos &&
         fnmatch((pattern.substr(0, mark) + pattern.substr(mark + 1)).c_str(), path.c_str(),
                 FNM_PATHNAME) == 0;
}

// A backslash in a class stands for itself.
bool NoEscapesInClasses(const std::string& pattern, const std::string& path) {
  std::string plain;
  bool in_class = false;
  for (size_t k = 0; k < pattern.size(); ++k) {
    if (!in_class && pattern[k] == '\\' && k + 1 < pattern.size()) {
      plain += pattern[k];
      plain += pattern[++k];
      continue;
    }
    if (pattern[k] == '[' || pattern[k] == ']') in_class = pattern[k] == '[';
    if (in_class && pattern[k] == '\\') plain += '\\';
    plain += pattern[k];
  }
  return fnmatch(plain.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

int EmptyMatches(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  if (*pattern != '\0') return Right().get_matching_paths(filesystem, pattern, entries, status);
  TF_SetStatus(status, TF_OK, "");
  return support::CopyNames({"/"}, entries);
}

int MissingIsInternal(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count != 0 || std::string(pattern).find("/missing/") == std::string::npos) return count;
  TF_SetStatus(status, TF_INTERNAL, pattern);
  return -1;
}

int LeaksOnBadPattern(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const size_t open = std::string(pattern).rfind('[');
  if (open == std::string::npos || std::string(pattern).find(']', open) != std::string::npos)
    return Right().get_matching_paths(filesystem, pattern, entries, status);
  support::CopyNames({"lost"}, entries);
  TF_SetStatus(status, TF_INVALID_ARGUMENT, pattern);
  return -1;
}

int ErrorOnNoMatch(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count != 0) return count;
  TF_SetStatus(status, TF_NOT_FOUND, pattern);
  return -1;
}

int UnimplementedForMany(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count <= 1000) return count;
  TF_SetStatus(status, TF_UNIMPLEMENTED, pattern);
  return -1;
}

void OnlyNames(Filesystem, const std::string&, Names& names) {
  for (std::string& name : names) name = NameIn(name);
}

void SkipsMatchingDirectories(Filesystem filesystem, const std::string&, Names& names) {
  LeaveOut(names, [&](const std::string& name) {
    return IsDirectory(filesystem, std::string(support::ParseUri(name).path));
  });
}

void SkipsBeyondAscii(Filesystem, const std::string&, Names& names) {
  LeaveOut(names, [](const std::string& name) {
    return std::any_of(name.begin(), name.end(), [](char byte) { return (byte & 0x80) != 0; });
  });
}

int OkAndMinusOne(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  Taken(count, *entries);
  *entries = nullptr;
  return -1;
}

int ErrorAndOne(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (std::string(pattern).find('[') == std::string::npos) return count;
  Taken(count, *entries);
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "the fault knows no classes");
  return support::CopyNames({pattern}, entries);
}

using Listing = int (*)(Filesystem, Path, char***, Status);

Fault Listed(const char* name, const char* what, const char* breaks, Listing op) {
  return {name, what, breaks, With(&Ops::get_children, op)};
}

Fault Matching(const char* name, const char* what, const char* breaks, Listing op) {
  return {name, what, breaks, With(&Ops::get_matching_paths, op)};
}

}  // namespace

std::vector<Fault> ListingFaults() {
  constexpr const char* kNames = "entries are names: no path, no slash, no . and ..";
  constexpr const char* kAll = "every child is listed, once";
  constexpr const char* kBlocks = "every entry is a block of its own, none is NULL";
  constexpr const char* kGlob =
      "the pattern matches whole names: * and ? but no slash, [lists], [^lists], \\escapes";
  return {
      Listed("get_children.full-paths", "entries are whole paths", kNames,
             Lists<&Ops::get_children, FullPaths>),
      Listed("get_children.dots", "lists . and ..", kNames, Lists<&Ops::get_children, Dots>),
      Listed("get_children.slash", "names of files end in a slash", kNames,
             Lists<&Ops::get_children, Slash>),
      Listed("get_children.recursive", "lists what is below children as well", kNames,
             Lists<&Ops::get_children, Recursive>),
      Listed("get_children.skips-hidden", "leaves out names that begin with a dot", kAll,
             Lists<&Ops::get_children, SkipsHidden>),
      Listed("get_children.skips-directories", "leaves out directories", kAll,
             Lists<&Ops::get_children, SkipsDirectories>),
      Listed("get_children.first-page", "lists 100 entries at most", kAll,
             Lists<&Ops::get_children, FirstPage<100>>),
      Listed("get_children.first-thousand", "lists 1,000 entries at most", kAll,
             Lists<&Ops::get_children, FirstPage<1000>>),
      {"get_children.remembers-sizes", "get_file_size gives the size of when a file was listed",
       "a query sees what has been done",
       Together(With(&Ops::get_children, Lists<&Ops::get_children, Remembers>),
                With(&Ops::get_file_size, RememberedSize))},
      {"get_children.remembers-names", "what was listed once exists for ever",
       "a query sees what has been done",
       Together(With(&Ops::get_children, Lists<&Ops::get_children, Remembers>),
                With(&Ops::path_exists, RememberedExists))},
      Listed("get_children.twice", "lists one entry twice", kAll, Lists<&Ops::get_children, Twice>),
      Listed("get_children.stale", "lists for ever what a directory held when first listed",
             "a query sees what has been done", Lists<&Ops::get_children, Stale>),
      Listed("get_children.count-on-error", "an error comes with one stale entry",
             "an error gives -1 and no entries", CountOnError),
      Listed("get_children.zero-on-error", "an error gives 0", "an error gives -1 and no entries",
             ZeroOnError),
      Listed("get_children.leaks-on-error", "an error leaves the entries behind",
             "an error gives -1 and no entries", LeaksOnError),
      Listed("get_children.shared-array", "gives the same array each time", kBlocks, SharedArray),
      Listed("get_children.missing-is-empty", "a missing directory is OK with 0",
             "a missing directory is NOT_FOUND", MissingIsEmpty),
      Listed("get_children.file-lists-itself", "a file is OK, and lists its own name",
             "a file is FAILED_PRECONDITION", FileListsItself),
      Listed("get_children.shared-entries", "two entries are one block", kBlocks, SharedEntries),
      Listed("get_children.null-entry", "the first entry is NULL", kBlocks, NullEntry),
      Listed("get_children.one-more", "counts one entry more, which is NULL", kBlocks, OneMore),
      Matching("get_matching_paths.crosses-slash", "* and ? match a slash", kGlob,
               Walked<Matches<0>, 2>),
      Matching("get_matching_paths.partial-match", "the beginning of a name is enough", kGlob,
               Walked<PartialMatch>),
      Matching("get_matching_paths.no-escapes", "a backslash stands for itself", kGlob,
               Walked<Matches<FNM_PATHNAME | FNM_NOESCAPE>>),
      Matching("get_matching_paths.no-classes", "brackets stand for themselves", kGlob,
               Walked<NoClasses>),
      Matching("get_matching_paths.ignores-case", "capitals and small letters are the same", kGlob,
               Walked<Matches<FNM_PATHNAME | FNM_CASEFOLD>>),
      Matching("get_matching_paths.hides-hidden", "no wildcard matches a dot at the beginning",
               "names that begin with a dot match, as in TensorFlow's default",
               Walked<Matches<FNM_PATHNAME | FNM_PERIOD>>),
      Matching("get_matching_paths.question-is-optional", "? matches no character, too", kGlob,
               Walked<QuestionIsOptional>),
      Matching("get_matching_paths.only-names", "results are the last components",
               "results are whole names", Lists<&Ops::get_matching_paths, OnlyNames>),
      Matching("get_matching_paths.skips-directories", "directories do not match", kGlob,
               Lists<&Ops::get_matching_paths, SkipsMatchingDirectories>),
      Matching("get_matching_paths.skips-beyond-ascii", "names that are not ASCII do not match",
               kGlob, Lists<&Ops::get_matching_paths, SkipsBeyondAscii>),
      Matching("get_matching_paths.ok-and-minus-one", "gives -1 with OK, and no entries",
               "OK comes with the number of entries", OkAndMinusOne),
      Matching("get_matching_paths.error-and-one",
               "a class is INVALID_ARGUMENT, with one entry handed over",
               "with an error no entries are handed over", ErrorAndOne),
      Matching("get_matching_paths.no-escapes-in-classes",
               "a backslash in a class stands for itself", kGlob, Walked<NoEscapesInClasses>),
      Matching("get_matching_paths.first-thousand", "gives 1,000 matches at most", kGlob,
               Lists<&Ops::get_matching_paths, FirstPage<1000>>),
      Matching("get_matching_paths.empty-matches", "the empty pattern matches the root",
               "the empty pattern matches nothing", EmptyMatches),
      Matching("get_matching_paths.missing-is-internal",
               "a pattern in a missing directory is INTERNAL",
               "it is OK with 0, or the error of the directory", MissingIsInternal),
      Matching("get_matching_paths.leaks-on-error",
               "a class that breaks off is INVALID_ARGUMENT, and leaves the entries behind",
               "an error gives -1 and no entries", LeaksOnBadPattern),
      Matching("get_matching_paths.unimplemented-for-many",
               "more than 1,000 matches are UNIMPLEMENTED", kGlob, UnimplementedForMany),
      Matching("get_matching_paths.error-on-no-match", "no match is NOT_FOUND",
               "no match is OK with 0", ErrorOnNoMatch),
  };
}

}  // namespace fakes
