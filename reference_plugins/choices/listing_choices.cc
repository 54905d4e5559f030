// Listing and matching: order, form, and what is handed over when there is nothing.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "choices.h"
#include "support/memory.h"
#include "support/paths.h"

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
std::vector<std::string> Taken(int count, char** entries) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) {
    names.emplace_back(entries[k]);
    support::Free(entries[k]);
  }
  support::Free(entries);
  return names;
}

template <ListOp* before>
int Reversed(const TF_Filesystem* filesystem, const char* path, char*** entries,
             TF_Status* status) noexcept {
  const int count = (*before)(filesystem, path, entries, status);
  if (count > 0) {
    std::sort(*entries, *entries + count,
              [](const char* one, const char* other) { return std::strcmp(one, other) > 0; });
  }
  return count;
}

template <ListOp* before>
int BlockForNothing(const TF_Filesystem* filesystem, const char* path, char*** entries,
                    TF_Status* status) noexcept {
  const int count = (*before)(filesystem, path, entries, status);
  if (count <= 0 && *entries == nullptr) {
    *entries = static_cast<char**>(support::Allocate(sizeof(char*)));
  }
  return count;
}

template <ListOp* before>
int ZeroOnError(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept {
  return std::max(0, (*before)(filesystem, path, entries, status));
}

ListOp matches_before_form;
int Translated(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
               TF_Status* status) noexcept {
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
                 TF_Status* status) noexcept {
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
                TF_Status* status) noexcept {
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
      {"block-entries", "what stands for no entries, and after an error (A10)",
       "a block, which the host frees",
       [](support::Tables& tables) {
         ReplaceBoth<2>(tables, BlockForNothing<&Before<2>::children>,
                        BlockForNothing<&Before<2>::matches>);
       }},
      {"zero-on-error", "what listing returns with an error (A10)", "0",
       [](support::Tables& tables) {
         ReplaceBoth<3>(tables, ZeroOnError<&Before<3>::children>,
                        ZeroOnError<&Before<3>::matches>);
       }},
  };
}

}  // namespace choices
