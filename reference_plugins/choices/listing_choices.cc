// Listing and matching: order, form, and what is handed over when there is nothing.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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

constexpr auto kChildren = &Ops::get_children;
constexpr auto kMatches = &Ops::get_matching_paths;

template <auto children, auto matches>
void TakeBoth(support::Tables& tables) {
  Take<kChildren, children>(tables);
  Take<kMatches, matches>(tables);
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

template <auto Entry>
int Reversed(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = before<Reversed<Entry>>(filesystem, path, entries, status);
  if (count > 0) {
    std::sort(*entries, *entries + count,
              [](const char* one, const char* other) { return std::strcmp(one, other) > 0; });
  }
  return count;
}

template <auto Entry>
int BlockForNothing(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = before<BlockForNothing<Entry>>(filesystem, path, entries, status);
  if (count == 0 && *entries == nullptr)
    *entries = static_cast<char**>(support::Allocate(sizeof(char*)));
  return count;
}

// What was allocated for the entries is freed, and the pointer to it is left as it was.
template <auto Entry>
int StaleOnError(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = before<StaleOnError<Entry>>(filesystem, path, entries, status);
  if (count >= 0) return count;
  *entries = static_cast<char**>(support::Allocate(sizeof(char*)));
  support::Free(*entries);
  return count;
}

int SlashBehindDirectories(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = before<SlashBehindDirectories>(filesystem, path, entries, status);
  if (count <= 0) return count;
  std::vector<std::string> names = Taken(count, *entries);
  for (std::string& name : names) {
    struct stat facts;
    const std::string whole = std::string(path) + "/" + name;
    if (stat(whole.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) name += "/";
  }
  return support::CopyNames(names, entries);
}

int Translated(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = before<Translated>(filesystem, pattern, entries, status);
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

int HideDotFiles(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = before<HideDotFiles>(filesystem, pattern, entries, status);
  if (count <= 0) return count;
  std::vector<std::string> kept;
  for (const std::string& match : Taken(count, *entries))
    if (!MatchesHidden(match, pattern)) kept.push_back(match);
  return support::CopyNames(kept, entries);
}

int NoBangClass(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  std::string plain;
  for (const char* at = pattern; *at != '\0'; ++at) {
    plain += *at;
    if (*at == '\\' && at[1] != '\0') {
      plain += *++at;
    } else if (*at == '[' && at[1] == '!') {
      plain += '\\';
    }
  }
  return before<NoBangClass>(filesystem, plain.c_str(), entries, status);
}

int Refuse(Path pattern, TF_Code code, Status status) {
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

int StrictClasses(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  for (const char* at = pattern; at != nullptr && *at != '\0';) {
    if (*at == '[') {
      at = BehindClass(at);
      if (at == nullptr) return Refuse(pattern, TF_INVALID_ARGUMENT, status);
    } else {
      at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
  }
  return before<StrictClasses>(filesystem, pattern, entries, status);
}

int RefuseEmptyPattern(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  if (*pattern == '\0') return Refuse(pattern, TF_FAILED_PRECONDITION, status);
  return before<RefuseEmptyPattern>(filesystem, pattern, entries, status);
}

int GlobNeedsItsDirectory(Filesystem filesystem, Path pattern, char*** entries, Status status) {
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
  return before<GlobNeedsItsDirectory>(filesystem, pattern, entries, status);
}

// Whether what is at `path` was made 30 ms ago, or so many as were chosen, or earlier.
bool IsOld(const std::string& path) {
  struct statx facts = {};
  if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &facts) != 0) return true;
  const auto made = std::chrono::seconds(facts.stx_btime.tv_sec) +
                    std::chrono::nanoseconds(facts.stx_btime.tv_nsec);
  return std::chrono::system_clock::now().time_since_epoch() - made >
         std::chrono::milliseconds(AmountOr(30));
}

template <auto Entry>
int Late(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = before<Late<Entry>>(filesystem, path, entries, status);
  if (count <= 0) return count;
  std::vector<std::string> old;
  for (const std::string& name : Taken(count, *entries)) {
    const bool is_whole = Entry == kMatches;
    if (IsOld(is_whole ? std::string(support::ParseUri(name).path) : path + ("/" + name)))
      old.push_back(name);
  }
  return support::CopyNames(old, entries);
}

}  // namespace

std::vector<Choice> ListingChoices() {
  return {
      {"translated-matches", "the form of matches (A11)", "paths, without scheme and host",
       Take<kMatches, Translated>},
      {"hide-dot-files", "whether a star matches a leading dot (A11)", "it has to be written",
       Take<kMatches, HideDotFiles>},
      {"no-bang-class", "whether [!x] negates (A11)", "it holds ! and x",
       Take<kMatches, NoBangClass>},
      {"reverse-listing", "the order of entries and matches (A11)", "the reverse of their bytes",
       TakeBoth<Reversed<kChildren>, Reversed<kMatches>>},
      {"block-entries", "what stands for no entries (A10)", "a block, which the host frees",
       TakeBoth<BlockForNothing<kChildren>, BlockForNothing<kMatches>>},
      {"stale-entries", "what the pointer to the entries holds after an error",
       "the address of a block that was freed",
       TakeBoth<StaleOnError<kChildren>, StaleOnError<kMatches>>},
      {"slash-behind-directories", "whether a slash stands behind the name of a directory",
       "it does", Take<kChildren, SlashBehindDirectories>, false},
      {"strict-classes", "what a class with a dash or a bracket at its edge is",
       "no pattern: INVALID_ARGUMENT", Take<kMatches, StrictClasses>},
      {"refuse-empty-pattern", "what the empty pattern answers", "FAILED_PRECONDITION",
       Take<kMatches, RefuseEmptyPattern>},
      {"glob-needs-its-directory", "what a pattern in a missing directory answers",
       "the error of the directory", Take<kMatches, GlobNeedsItsDirectory>},
      {"late-listing", "when what was made is listed and matched", "30 ms later",
       TakeBoth<Late<kChildren>, Late<kMatches>>, false},
  };
}

}  // namespace choices
