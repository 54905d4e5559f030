// Names: which there may be, and what a path answers that cannot be.

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>

#include "choices.h"
#include "support/memory.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetErrno;
using support::SetError;

// What a path answers that cannot be.
TF_Code refusal = TF_FAILED_PRECONDITION;

// Whether `path` is text, and each of its names no longer than names are.
bool IsLegal(Path path) {
  const size_t longest = AmountOr(255);
  size_t length = 0;
  int expected = 0;  // bytes of a character that are still to come
  for (const char* at = path; *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20 || byte == 0x7f) return false;
    length = byte == '/' ? 0 : length + 1;
    if (length > longest) return false;
    if ((byte & 0xc0) == 0x80) {
      if (expected-- == 0) return false;
    } else {
      if (expected != 0) return false;
      expected = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
      if (byte >= 0xf8) return false;
    }
  }
  return expected == 0;
}

constexpr const char* kIllegal = "a name of this kind cannot be had here";

bool IsIllegal(Path path) { return !IsLegal(path); }

bool IsNotAscii(Path path) {
  const std::string text = path;
  return std::any_of(text.begin(), text.end(), [](char byte) { return byte < 0; });
}

// Whether a name in `path` is none that Windows takes.
bool IsNotForWindows(Path path) {
  const auto names = support::Components(path);
  return std::any_of(names.begin(), names.end(), [](const auto& name) {
    const std::string text(name);
    return text.find_first_of("\\:*?\"<>|") != std::string::npos || text.back() == ' ' ||
           (text.back() == '.' && text != "." && text != "..");
  });
}

bool IsTooLong(Path path) { return std::strlen(path) > AmountOr(1000); }

// Whether a file stands right above `path`.
bool IsRightBelowAFile(Path path) {
  struct stat facts;
  return stat(support::ParentOf(path).c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
}

// Whether a file stands further up than right above `path`.
bool IsFarBelowAFile(Path path) {
  struct stat facts;
  return stat(support::ParentOf(path).c_str(), &facts) != 0 && errno == ENOTDIR;
}

void AnswerIllegal(Path path, Status status) { SetError(status, refusal, path, kIllegal); }

void AnswerNotFound(Path path, Status status) { SetErrno(status, ENOENT, path); }

using Met = bool (*)(Path);
using Answer = void (*)(Path, Status);

// An op that takes one path, and answers otherwise where it is such a one.
template <Met met, Answer answer, auto Entry, typename Type = decltype(Entry)>
struct Refuses;
template <Met met, Answer answer, auto Entry, typename Result, typename... Rest>
struct Refuses<met, answer, Entry, Result (*Ops::*)(Filesystem, Path, Rest...)> {
  static inline Result (*before)(Filesystem, Path, Rest...);

  static Result Call(Filesystem filesystem, Path path, Rest... rest) {
    if (!met(path)) return before(filesystem, path, rest...);
    answer(path, std::get<sizeof...(Rest) - 1>(std::tuple(rest...)));
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

template <Met met, Answer answer, auto Entry>
void RefusesEither(Filesystem filesystem, Path source, Path target, Status status) {
  const Path one = met(source) ? source : met(target) ? target : nullptr;
  if (one != nullptr) return answer(one, status);
  before<RefusesEither<met, answer, Entry>>(filesystem, source, target, status);
}

template <Met met, Answer answer>
struct RefuseEach {
  support::Tables& tables;

  template <auto Entry>
  void Add(const char* op = "") {
    if constexpr (std::is_same_v<decltype(Entry), decltype(&Ops::rename_file)>) {
      Take<Entry, RefusesEither<met, answer, Entry>>(tables);
    } else if (std::string(op) != "get_matching_paths") {
      using Op = Refuses<met, answer, Entry>;
      Op::before = Replace(tables, Entry, Op::Call);
    }
  }
};

decltype(TF_FilesystemOps::path_exists) exists_before;
bool AllLegal(Filesystem filesystem, char** paths, int count, TF_Status** statuses) noexcept {
  bool all = true;
  Status own = TF_NewStatus();
  for (int k = 0; k < count; ++k) {
    Status status = statuses == nullptr ? own : statuses[k];
    support::Guarded(status, paths[k], [&] { exists_before(filesystem, paths[k], status); });
    all = TF_GetCode(status) == TF_OK && all;
  }
  TF_DeleteStatus(own);
  return all;
}

// paths_exist asks as path_exists does by now.
void AskForEach(support::Tables& tables) {
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

template <Met met>
void Invalid(support::Tables& tables) {
  refusal = TF_INVALID_ARGUMENT;
  fakes::ForEachPathOp(RefuseEach<met, AnswerIllegal>{tables});
  AskForEach(tables);
}

void IllegalNames(support::Tables& tables) {
  fakes::ForEachPathOp(RefuseEach<IsIllegal, AnswerIllegal>{tables});
  AskForEach(tables);
}

// The ops that ask take what is right below a file for missing.
void BelowAFileIsNotFound(support::Tables& tables) {
  RefuseEach<IsRightBelowAFile, AnswerNotFound> asking{tables};
  asking.Add<&Ops::path_exists>();
  asking.Add<&Ops::stat>();
  asking.Add<&Ops::is_directory>();
  asking.Add<&Ops::get_file_size>();
  AskForEach(tables);
}

void FarBelowAFileIsNotFound(support::Tables& tables) {
  // The one op for which a parent that is missing is no reason to fail.
  const auto makes_parents = tables.filesystem.recursively_create_dir;
  fakes::ForEachPathOp(RefuseEach<IsFarBelowAFile, AnswerNotFound>{tables});
  tables.filesystem.recursively_create_dir = makes_parents;
  AskForEach(tables);
}

void AnswerOpen(Path path, Status status) { SetError(status, refusal, path, "it is open"); }

void CopyOntoClosed(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsOpen(target)) return AnswerOpen(target, status);
  before<CopyOntoClosed>(filesystem, source, target, status);
}

constexpr const char* kLocked = "whether what is open can be deleted, renamed and replaced";

template <TF_Code code>
void LockedFiles(support::Tables& tables) {
  refusal = code;
  CountOpenFiles(tables);
  RefuseEach<IsOpen, AnswerOpen> locked{tables};
  locked.Add<&Ops::new_writable_file>();
  locked.Add<&Ops::delete_file>();
  locked.Add<&Ops::delete_recursively>();
  locked.Add<&Ops::rename_file>();
  Take<&Ops::copy_file, CopyOntoClosed>(tables);
}

// How translate_name spells a path where what it gives is none, and how the other ops read that:
// what is not spelt so is no name of anything.
struct Spelling {
  std::string (*spell)(const std::string& path, Path uri);
  std::string (*read)(const std::string& name);
} spelling;

std::string InHex(const std::string& path, Path) {
  std::string name;
  for (const char byte : path) {
    name += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    name += "0123456789abcdef"[byte & 0xf];
  }
  return name;
}

std::string FromHex(const std::string& name) {
  if (name.size() % 2 != 0 || name.find_first_not_of("0123456789abcdef") != std::string::npos)
    return "";
  std::string path;
  for (size_t at = 0; at < name.size(); at += 2)
    path += static_cast<char>(std::stoi(name.substr(at, 2), nullptr, 16));
  return path;
}

std::string WithVersion(const std::string& path, Path) { return path + ";0"; }

std::string WithoutVersion(const std::string& name) {
  const bool has_version = name.size() > 1 && name.compare(name.size() - 2, 2, ";0") == 0;
  return has_version ? name.substr(0, name.size() - 2) : "";
}

std::string AsGiven(const std::string&, Path uri) { return uri; }

std::string FromUri(const std::string& name) { return std::string(support::ParseUri(name).path); }

struct ReadName {
  std::string path;
  operator Path() const { return path.c_str(); }
};

ReadName Read(Path name) { return {spelling.read(name)}; }

template <typename Other>
Other Read(Other other) {
  return other;
}

template <auto Entry, typename Type = decltype(Entry)>
struct Spelt;
template <auto Entry, typename Result, typename... Arguments>
struct Spelt<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);
  static Result Call(Arguments... arguments) { return before(Read(arguments)...); }
};

char* Spell(Filesystem filesystem, Path uri) noexcept {
  const std::unique_ptr<char, void (*)(void*)> path(before<Spell>(filesystem, uri), support::Free);
  try {
    return path == nullptr ? nullptr : support::CopyString(spelling.spell(path.get(), uri));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

template <auto spell, auto read>
void SpellNames(support::Tables& tables) {
  spelling = {spell, read};
  // Core does not translate patterns.
  const auto matches = tables.filesystem.get_matching_paths;
  fakes::ForEachPathOp(Wrapping<Spelt>{tables});
  tables.filesystem.get_matching_paths = matches;
  AskForEach(tables);
  Take<&Ops::translate_name, Spell>(tables);
}

}  // namespace

std::vector<Choice> NameChoices() {
  return {
      {"locked-files:PERMISSION_DENIED", kLocked, "PERMISSION_DENIED",
       LockedFiles<TF_PERMISSION_DENIED>, false},
      {"locked-files:FAILED_PRECONDITION", kLocked, "FAILED_PRECONDITION",
       LockedFiles<TF_FAILED_PRECONDITION>, false},
      {"locked-files:UNAVAILABLE", kLocked, "UNAVAILABLE", LockedFiles<TF_UNAVAILABLE>, false},
      {"illegal-names", "which names are illegal, and what that answers (A4)",
       "control bytes, what is no text, and more than 255 bytes: FAILED_PRECONDITION",
       IllegalNames},
      {"illegal-names-are-internal", "which error a name that is illegal gives (A4)",
       "INTERNAL, for the same names",
       [](support::Tables& tables) {
         refusal = TF_INTERNAL;
         IllegalNames(tables);
       },
       false},
      {"ascii-names", "which names are illegal, and what that answers (A4)",
       "those that are not ASCII: INVALID_ARGUMENT", Invalid<IsNotAscii>, false},
      {"windows-names", "which names are illegal, and what that answers (A4)",
       "those with \\:*?\"<>| in them, or a space or dot at the end: INVALID_ARGUMENT",
       Invalid<IsNotForWindows>, false},
      {"short-paths", "how long a path may be", "1,000 bytes: INVALID_ARGUMENT beyond",
       Invalid<IsTooLong>, false},
      {"below-a-file-is-not-found", "what those who ask for a path below a file are told",
       "NOT_FOUND", BelowAFileIsNotFound},
      {"far-below-a-file-is-not-found", "what a path far below a file answers (A24)", "NOT_FOUND",
       FarBelowAFileIsNotFound},
      {"hex-names", "what translate_name gives", "the path in hexadecimal digits",
       SpellNames<InHex, FromHex>, false},
      {"versioned-names", "what translate_name gives", "the path with ;0 at its end",
       SpellNames<WithVersion, WithoutVersion>, false},
      {"uri-names", "what translate_name gives", "what it was given", SpellNames<AsGiven, FromUri>,
       false},
  };
}

}  // namespace choices
