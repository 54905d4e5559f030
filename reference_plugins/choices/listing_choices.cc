// Listing and matching: order, form, and what is handed over when there is nothing.

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "choices.h"
#include "support/glob.h"
#include "support/memory.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using ListOp = decltype(TF_FilesystemOps::get_children);

// The two ops that give entries, each with what it was before; `number` tells choices apart.
template <int number>
struct Before {
  static inline ListOp children;
  static inline ListOp matches;
};

template <int number>
void ReplaceBoth(support::Tables& tables, ListOp children, ListOp matches) {
  Before<number>::children = Replace(tables.filesystem, &TF_FilesystemOps::get_children, children);
  Before<number>::matches =
      Replace(tables.filesystem, &TF_FilesystemOps::get_matching_paths, matches);
}

// Entries that the plugin is about to hand over.
struct Owned {
  int count;
  char**& entries;
  ~Owned() {
    for (int k = 0; k < count; ++k) support::Free(entries[k]);
    support::Free(entries);
    entries = nullptr;
  }
};

std::vector<std::string> Taken(int count, char**& entries) {
  const Owned owned{count, entries};
  return {entries, entries + count};
}

template <ListOp* before>
int Reversed(const TF_Filesystem* filesystem, const char* path, char*** entries,
             TF_Status* status) {
  const int count = (*before)(filesystem, path, entries, status);
  if (count > 0) {
    std::sort(*entries, *entries + count,
              [](const char* one, const char* other) { return std::strcmp(one, other) > 0; });
  }
  return count;
}

template <ListOp* before>
int BlockForNothing(const TF_Filesystem* filesystem, const char* path, char*** entries,
                    TF_Status* status) {
  const int count = (*before)(filesystem, path, entries, status);
  if (count == 0 && *entries == nullptr) {
    *entries = static_cast<char**>(support::Allocate(sizeof(char*)));
  }
  return count;
}

// What was allocated for the entries is freed, and the pointer to it is left as it was.
template <ListOp* before>
int StaleOnError(const TF_Filesystem* filesystem, const char* path, char*** entries,
                 TF_Status* status) {
  const int count = (*before)(filesystem, path, entries, status);
  if (count >= 0) return count;
  *entries = static_cast<char**>(support::Allocate(sizeof(char*)));
  support::Free(*entries);
  return count;
}

ListOp children_before_slash;
int SlashBehindDirectories(const TF_Filesystem* filesystem, const char* path, char*** entries,
                           TF_Status* status) {
  const int count = children_before_slash(filesystem, path, entries, status);
  if (count <= 0) return count;
  std::vector<std::string> names = Taken(count, *entries);
  for (std::string& name : names) {
    struct stat facts;
    const std::string whole = std::string(path) + "/" + name;
    if (stat(whole.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) name += "/";
  }
  return support::CopyNames(names, entries);
}

ListOp matches_before_form;
int Translated(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
               TF_Status* status) {
  const int count = matches_before_form(filesystem, pattern, entries, status);
  for (int k = 0; k < count; ++k) {
    char* whole = (*entries)[k];
    const size_t prefix = support::ParseUri(whole).prefix.size();
    std::memmove(whole, whole + prefix, std::strlen(whole + prefix) + 1);
  }
  return count;
}

// Whether a component of `match` begins with a dot where that of `pattern` does not write one.
bool MatchesHidden(const std::string& match, const std::string& pattern) {
  const auto names = support::Components(support::ParseUri(match).path);
  const auto written = support::Components(support::ParseUri(pattern).path);
  for (size_t k = 0; k < names.size() && k < written.size(); ++k) {
    const char first = written[k].front();
    if (names[k].front() == '.' && (first == '*' || first == '?' || first == '[')) return true;
  }
  return false;
}

ListOp matches_before_hiding;
int HideDotFiles(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                 TF_Status* status) {
  const int count = matches_before_hiding(filesystem, pattern, entries, status);
  if (count <= 0) return count;
  std::vector<std::string> kept;
  for (const std::string& match : Taken(count, *entries)) {
    if (!MatchesHidden(match, pattern)) kept.push_back(match);
  }
  return support::CopyNames(kept, entries);
}

ListOp matches_before_bang;
int NoBangClass(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                TF_Status* status) {
  std::string plain;
  for (const char* at = pattern; *at != '\0'; ++at) {
    plain += *at;
    if (*at == '\\' && at[1] != '\0') {
      plain += *++at;
    } else if (*at == '[' && at[1] == '!') {
      plain += '\\';
    }
  }
  return matches_before_bang(filesystem, plain.c_str(), entries, status);
}

int Refuse(const char* pattern, TF_Code code, TF_Status* status) {
  support::SetError(status, code, pattern, "it is no pattern for this plugin");
  return -1;
}

// The place behind the class that begins at `at`, or nothing where that is outside of the grammar:
// `-`, `]` and the backslash are members only behind a backslash.
const char* BehindClass(const char* at) {
  const auto member = [&at] {
    if (*at == '\\')
      ++at;
    else if (*at == '-' || *at == ']')
      return false;
    return *at != '\0' && *at++ != '\0';
  };
  if (*++at == '^') ++at;
  do {
    if (!member()) return nullptr;
    if (*at == '-' && !(++at, member())) return nullptr;
  } while (*at != ']');
  return at + 1;
}

ListOp matches_before_strict;
int StrictClasses(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                  TF_Status* status) {
  for (const char* at = pattern; at != nullptr && *at != '\0';) {
    if (*at == '[') {
      at = BehindClass(at);
      if (at == nullptr) return Refuse(pattern, TF_INVALID_ARGUMENT, status);
    } else {
      at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
  }
  return matches_before_strict(filesystem, pattern, entries, status);
}

ListOp matches_before_empty;
int RefuseEmptyPattern(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                       TF_Status* status) {
  if (*pattern == '\0') return Refuse(pattern, TF_FAILED_PRECONDITION, status);
  return matches_before_empty(filesystem, pattern, entries, status);
}

ListOp matches_before_missing;
int GlobNeedsItsDirectory(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                          TF_Status* status) {
  const std::string path(support::ParseUri(pattern).path);
  const size_t glob = support::FindGlobCharacter(path);
  if (glob != std::string::npos) {
    struct stat facts;
    const std::string directory = path.substr(0, path.find_last_of('/', glob) + 1);
    if (!directory.empty() && stat(directory.c_str(), &facts) != 0) {
      support::SetErrno(status, errno, pattern);
      return -1;
    }
  }
  return matches_before_missing(filesystem, pattern, entries, status);
}

template <ListOp* before>
void ReplaceMatches(support::Tables& tables, ListOp function) {
  *before = Replace(tables.filesystem, &TF_FilesystemOps::get_matching_paths, function);
}

}  // namespace

std::vector<Choice> ListingChoices() {
  return {
      {"translated-matches", "the form of matches (A11)", "paths, without scheme and host",
       [](support::Tables& tables) {
         matches_before_form =
             Replace(tables.filesystem, &TF_FilesystemOps::get_matching_paths, Translated);
       }},
      {"hide-dot-files", "whether a star matches a leading dot (A11)", "it has to be written",
       [](support::Tables& tables) {
         matches_before_hiding =
             Replace(tables.filesystem, &TF_FilesystemOps::get_matching_paths, HideDotFiles);
       }},
      {"no-bang-class", "whether [!x] negates (A11)", "it holds ! and x",
       [](support::Tables& tables) {
         matches_before_bang =
             Replace(tables.filesystem, &TF_FilesystemOps::get_matching_paths, NoBangClass);
       }},
      {"reverse-listing", "the order of entries and matches (A11)", "the reverse of their bytes",
       [](support::Tables& tables) {
         ReplaceBoth<1>(tables, Reversed<&Before<1>::children>, Reversed<&Before<1>::matches>);
       }},
      {"block-entries", "what stands for no entries (A10)", "a block, which the host frees",
       [](support::Tables& tables) {
         ReplaceBoth<2>(tables, BlockForNothing<&Before<2>::children>,
                        BlockForNothing<&Before<2>::matches>);
       }},
      {"stale-entries", "what the pointer to the entries holds after an error",
       "the address of a block that was freed",
       [](support::Tables& tables) {
         ReplaceBoth<3>(tables, StaleOnError<&Before<3>::children>,
                        StaleOnError<&Before<3>::matches>);
       }},
      {"slash-behind-directories", "whether a slash stands behind the name of a directory",
       "it does",
       [](support::Tables& tables) {
         children_before_slash =
             Replace(tables.filesystem, &TF_FilesystemOps::get_children, SlashBehindDirectories);
       },
       false},
      {"strict-classes", "what a class with a dash or a bracket at its edge is",
       "no pattern: INVALID_ARGUMENT",
       [](support::Tables& tables) {
         ReplaceMatches<&matches_before_strict>(tables, StrictClasses);
       }},
      {"refuse-empty-pattern", "what the empty pattern answers", "FAILED_PRECONDITION",
       [](support::Tables& tables) {
         ReplaceMatches<&matches_before_empty>(tables, RefuseEmptyPattern);
       }},
      {"glob-needs-its-directory", "what a pattern in a missing directory answers",
       "the error of the directory",
       [](support::Tables& tables) {
         ReplaceMatches<&matches_before_missing>(tables, GlobNeedsItsDirectory);
       }},
  };
}

}  // namespace choices
