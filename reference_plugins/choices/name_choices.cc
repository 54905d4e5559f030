// Names: which there may be, and what a path answers that cannot be.

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "choices.h"
#include "path_ops.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetErrno;
using support::SetError;

// What a path answers that cannot be.
TF_Code refusal = TF_FAILED_PRECONDITION;

// Whether `path` is text, and each of its names no longer than names are.
bool IsLegal(const char* path) {
  constexpr size_t kLongest = 255;
  size_t length = 0;
  int expected = 0;  // bytes of a character that are still to come
  for (const char* at = path; *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20 || byte == 0x7f) return false;
    length = byte == '/' ? 0 : length + 1;
    if (length > kLongest) return false;
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

template <auto Entry, typename Type = decltype(Entry)>
struct LegalOnly;
template <auto Entry, typename Result, typename... Rest>
struct LegalOnly<Entry, Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  using Op = OnPath<1, Entry>;
  static Result Call(const TF_Filesystem* filesystem, const char* path, Rest... rest) {
    if (IsLegal(path)) return Op::before(filesystem, path, rest...);
    SetError(Op::StatusIn(rest...), refusal, path, kIllegal);
    return Op::Failed(rest...);
  }
};

template <TwoPathOp* before>
void BothLegal(const TF_Filesystem* filesystem, const char* source, const char* target,
               TF_Status* status) {
  const char* illegal = !IsLegal(source) ? source : !IsLegal(target) ? target : nullptr;
  if (illegal != nullptr) return SetError(status, refusal, illegal, kIllegal);
  (*before)(filesystem, source, target, status);
}

decltype(TF_FilesystemOps::path_exists) exists_before;
bool AllLegal(const TF_Filesystem* filesystem, char** paths, int count,
              TF_Status** statuses) noexcept {
  bool all = true;
  TF_Status* own = TF_NewStatus();
  for (int k = 0; k < count; ++k) {
    TF_Status* status = statuses == nullptr ? own : statuses[k];
    support::Guarded(status, paths[k], [&] { exists_before(filesystem, paths[k], status); });
    all = TF_GetCode(status) == TF_OK && all;
  }
  TF_DeleteStatus(own);
  return all;
}

struct RefuseIllegal {
  support::Tables& tables;
  template <auto Entry>
  void Op() {
    OnPath<1, Entry>::before = Replace(tables.filesystem, Entry, LegalOnly<Entry>::Call);
  }
};

void IllegalNames(support::Tables& tables) {
  ForEachPathOp(RefuseIllegal{tables});
  using Both = OnTwoPaths<1>;
  Both::rename =
      Replace(tables.filesystem, &TF_FilesystemOps::rename_file, BothLegal<&Both::rename>);
  Both::copy = Replace(tables.filesystem, &TF_FilesystemOps::copy_file, BothLegal<&Both::copy>);
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

// The ops that ask, which take what is right below a file for missing.
template <auto Entry, typename Type = decltype(Entry)>
struct RightBelow;
template <auto Entry, typename Result, typename... Rest>
struct RightBelow<Entry,
                  Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  using Op = OnPath<3, Entry>;
  static Result Call(const TF_Filesystem* filesystem, const char* path, Rest... rest) {
    struct stat facts;
    const std::string parent = support::ParentOf(path);
    if (stat(parent.c_str(), &facts) != 0 || S_ISDIR(facts.st_mode))
      return Op::before(filesystem, path, rest...);
    SetErrno(Op::StatusIn(rest...), ENOENT, path);
    return Op::Failed(rest...);
  }
};

template <auto Entry>
void MissRightBelow(support::Tables& tables) {
  OnPath<3, Entry>::before = Replace(tables.filesystem, Entry, RightBelow<Entry>::Call);
}

void BelowAFileIsNotFound(support::Tables& tables) {
  using Ops = TF_FilesystemOps;
  MissRightBelow<&Ops::path_exists>(tables);
  MissRightBelow<&Ops::stat>(tables);
  MissRightBelow<&Ops::is_directory>(tables);
  MissRightBelow<&Ops::get_file_size>(tables);
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

// Whether a file stands further up than right above `path`.
bool IsFarBelowAFile(const char* path) {
  struct stat facts;
  return stat(support::ParentOf(path).c_str(), &facts) != 0 && errno == ENOTDIR;
}

template <auto Entry, typename Type = decltype(Entry)>
struct FarBelow;
template <auto Entry, typename Result, typename... Rest>
struct FarBelow<Entry, Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  using Op = OnPath<2, Entry>;
  static Result Call(const TF_Filesystem* filesystem, const char* path, Rest... rest) {
    if (!IsFarBelowAFile(path)) return Op::before(filesystem, path, rest...);
    SetErrno(Op::StatusIn(rest...), ENOENT, path);
    return Op::Failed(rest...);
  }
};

template <TwoPathOp* before>
void NeitherFarBelow(const TF_Filesystem* filesystem, const char* source, const char* target,
                     TF_Status* status) {
  const char* far = IsFarBelowAFile(source) ? source : IsFarBelowAFile(target) ? target : nullptr;
  if (far != nullptr) return SetErrno(status, ENOENT, far);
  (*before)(filesystem, source, target, status);
}

struct MissFarBelow {
  support::Tables& tables;
  template <auto Entry>
  void Op() {
    // The one op for which a parent that is missing is no reason to fail.
    if constexpr (!std::is_same_v<FarBelow<Entry>,
                                  FarBelow<&TF_FilesystemOps::recursively_create_dir>>) {
      OnPath<2, Entry>::before = Replace(tables.filesystem, Entry, FarBelow<Entry>::Call);
    }
  }
};

void FarBelowAFileIsNotFound(support::Tables& tables) {
  ForEachPathOp(MissFarBelow{tables});
  using Both = OnTwoPaths<3>;
  Both::rename =
      Replace(tables.filesystem, &TF_FilesystemOps::rename_file, NeitherFarBelow<&Both::rename>);
  Both::copy =
      Replace(tables.filesystem, &TF_FilesystemOps::copy_file, NeitherFarBelow<&Both::copy>);
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

}  // namespace

std::vector<Choice> NameChoices() {
  return {
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
      {"below-a-file-is-not-found", "what those who ask for a path below a file are told",
       "NOT_FOUND", BelowAFileIsNotFound},
      {"far-below-a-file-is-not-found", "what a path far below a file answers (A24)", "NOT_FOUND",
       FarBelowAFileIsNotFound},
  };
}

}  // namespace choices
