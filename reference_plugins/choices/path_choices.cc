// Paths: which names there may be, and what the ops answer where the sources contradict each other.

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>

#include "choices.h"
#include "paths.h"
#include "status.h"

namespace choices {
namespace {

using posix::SetErrno;
using posix::SetError;
using posix::SetOk;

constexpr TF_Code kRefusal = TF_FAILED_PRECONDITION;

// An op that takes one path, wrapped by choice number `number`.
template <int number, auto Entry, typename Type = decltype(Entry)>
struct OnPath;

template <int number, auto Entry, typename Result, typename... Rest>
struct OnPath<number, Entry,
              Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  static inline Result (*before)(const TF_Filesystem*, const char*, Rest...);

  static TF_Status* StatusIn(Rest... rest) {
    return std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
  }

  static Result Failed(Rest... rest) {
    if constexpr (std::is_same_v<std::tuple<Rest...>,
                                 std::tuple<uint64_t*, uint64_t*, TF_Status*>>) {
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

// Calls `visitor.template Op<entry>()` for every op that takes one path and has a status.
template <typename Visitor>
void ForEachPathOp(Visitor visitor) {
  using Ops = TF_FilesystemOps;
  visitor.template Op<&Ops::new_random_access_file>();
  visitor.template Op<&Ops::new_writable_file>();
  visitor.template Op<&Ops::new_appendable_file>();
  visitor.template Op<&Ops::new_read_only_memory_region_from_file>();
  visitor.template Op<&Ops::create_dir>();
  visitor.template Op<&Ops::recursively_create_dir>();
  visitor.template Op<&Ops::delete_file>();
  visitor.template Op<&Ops::delete_dir>();
  visitor.template Op<&Ops::delete_recursively>();
  visitor.template Op<&Ops::path_exists>();
  visitor.template Op<&Ops::stat>();
  visitor.template Op<&Ops::is_directory>();
  visitor.template Op<&Ops::get_file_size>();
  visitor.template Op<&Ops::get_children>();
}

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
    SetError(Op::StatusIn(rest...), kRefusal, path, kIllegal);
    return Op::Failed(rest...);
  }
};

using TwoPathOp = decltype(TF_FilesystemOps::rename_file);

// rename_file or copy_file, wrapped by choice number `number`.
template <int number>
struct OnTwoPaths {
  static inline TwoPathOp rename;
  static inline TwoPathOp copy;
};

template <TwoPathOp* before>
void BothLegal(const TF_Filesystem* filesystem, const char* source, const char* target,
               TF_Status* status) noexcept {
  const char* illegal = !IsLegal(source) ? source : !IsLegal(target) ? target : nullptr;
  if (illegal != nullptr) return SetError(status, kRefusal, illegal, kIllegal);
  (*before)(filesystem, source, target, status);
}

decltype(TF_FilesystemOps::path_exists) exists_before;
bool AllLegal(const TF_Filesystem* filesystem, char** paths, int count,
              TF_Status** statuses) noexcept {
  bool all = true;
  TF_Status* own = TF_NewStatus();
  for (int k = 0; k < count; ++k) {
    TF_Status* status = statuses == nullptr ? own : statuses[k];
    exists_before(filesystem, paths[k], status);
    all = TF_GetCode(status) == TF_OK && all;
  }
  TF_DeleteStatus(own);
  return all;
}

struct RefuseIllegal {
  posix::Tables& tables;
  template <auto Entry>
  void Op() {
    OnPath<1, Entry>::before = Replace(tables.filesystem, Entry, LegalOnly<Entry>::Call);
  }
};

void IllegalNames(posix::Tables& tables) {
  ForEachPathOp(RefuseIllegal{tables});
  using Both = OnTwoPaths<1>;
  Both::rename =
      Replace(tables.filesystem, &TF_FilesystemOps::rename_file, BothLegal<&Both::rename>);
  Both::copy = Replace(tables.filesystem, &TF_FilesystemOps::copy_file, BothLegal<&Both::copy>);
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

template <auto Entry, typename Type = decltype(Entry)>
struct FarBelow;
template <auto Entry, typename Result, typename... Rest>
struct FarBelow<Entry, Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  using Op = OnPath<2, Entry>;
  static Result Call(const TF_Filesystem* filesystem, const char* path, Rest... rest) {
    struct stat facts;
    if (stat(posix::ParentOf(path).c_str(), &facts) == 0 || errno != ENOTDIR) {
      return Op::before(filesystem, path, rest...);
    }
    SetErrno(Op::StatusIn(rest...), ENOENT, path);
    return Op::Failed(rest...);
  }
};

struct MissFarBelow {
  posix::Tables& tables;
  template <auto Entry>
  void Op() {
    // The one op for which a parent that is missing is no reason to fail.
    if constexpr (!std::is_same_v<FarBelow<Entry>,
                                  FarBelow<&TF_FilesystemOps::recursively_create_dir>>) {
      OnPath<2, Entry>::before = Replace(tables.filesystem, Entry, FarBelow<Entry>::Call);
    }
  }
};

void FarBelowAFileIsNotFound(posix::Tables& tables) {
  ForEachPathOp(MissFarBelow{tables});
  exists_before = tables.filesystem.path_exists;
  tables.filesystem.paths_exist = AllLegal;
}

// An op with a status, wrapped so that success leaves the status as it came.
template <auto Entry, typename Type = decltype(Entry)>
struct Leaves;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Leaves<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);

  // Puts back what the status said, where the op succeeded.
  struct Restore {
    TF_Status* status;
    TF_Code code;
    std::string message;
    ~Restore() {
      if (TF_GetCode(status) == TF_OK) TF_SetStatus(status, code, message.c_str());
    }
  };

  static Result Call(Arguments... arguments) {
    TF_Status* status = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    const Restore restore{status, TF_GetCode(status), TF_Message(status)};
    return before(arguments...);
  }
};

template <auto Entry, typename Ops>
void Leave(Ops& ops) {
  Leaves<Entry>::before = Replace(ops, Entry, Leaves<Entry>::Call);
}

struct LeaveEach {
  posix::Tables& tables;
  template <auto Entry>
  void Op() {
    Leave<Entry>(tables.filesystem);
  }
};

void LeaveStatusAlone(posix::Tables& tables) {
  ForEachPathOp(LeaveEach{tables});
  Leave<&TF_FilesystemOps::rename_file>(tables.filesystem);
  Leave<&TF_FilesystemOps::copy_file>(tables.filesystem);
  Leave<&TF_FilesystemOps::get_matching_paths>(tables.filesystem);
  Leave<&TF_RandomAccessFileOps::read>(tables.random_access_file);
  Leave<&TF_WritableFileOps::append>(tables.writable_file);
  Leave<&TF_WritableFileOps::tell>(tables.writable_file);
  Leave<&TF_WritableFileOps::flush>(tables.writable_file);
  Leave<&TF_WritableFileOps::sync>(tables.writable_file);
  Leave<&TF_WritableFileOps::close>(tables.writable_file);
}

bool IsFile(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool IsDirectory(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

TwoPathOp copy_before_inside;
void CopyIntoDirectory(const TF_Filesystem* filesystem, const char* source, const char* target,
                       TF_Status* status) noexcept {
  posix::Guarded(status, target, [&] {
    std::string inside = target;
    if (IsFile(source) && IsDirectory(target)) {
      inside += "/" + std::string(posix::Components(source).back());
    }
    copy_before_inside(filesystem, source, inside.c_str(), status);
  });
}

TwoPathOp rename_before_directories;
void RenameDirectories(const TF_Filesystem* filesystem, const char* source, const char* target,
                       TF_Status* status) noexcept {
  if (!IsDirectory(source) || IsDirectory(target)) {
    return rename_before_directories(filesystem, source, target, status);
  }
  SetErrno(status, rename(source, target) == 0 ? 0 : errno, target);
}

template <TwoPathOp* before>
void RefuseItself(const TF_Filesystem* filesystem, const char* source, const char* target,
                  TF_Status* status) noexcept {
  if (std::strcmp(source, target) == 0 && IsFile(source)) {
    return SetError(status, kRefusal, source, "it is its own target");
  }
  (*before)(filesystem, source, target, status);
}

decltype(TF_FilesystemOps::is_directory) is_directory_before;
bool HeaderIsDirectory(const TF_Filesystem* filesystem, const char* path,
                       TF_Status* status) noexcept {
  if (!IsFile(path)) return is_directory_before(filesystem, path, status);
  SetOk(status);
  return false;
}

decltype(TF_FilesystemOps::delete_recursively) delete_tree_before;
void RefuseTreeOfFile(const TF_Filesystem* filesystem, const char* path, uint64_t* files,
                      uint64_t* dirs, TF_Status* status) noexcept {
  if (!IsFile(path)) return delete_tree_before(filesystem, path, files, dirs, status);
  *files = 0;
  *dirs = 1;
  SetErrno(status, ENOTDIR, path);
}

constexpr int64_t kSecond = 1'000'000'000;

decltype(TF_FilesystemOps::stat) stat_before;
template <int64_t granularity>
void StatWithTimes(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
                   TF_Status* status) noexcept {
  stat_before(filesystem, path, statistics, status);
  if (TF_GetCode(status) != TF_OK) return;
  statistics->mtime_nsec -=
      granularity == 0 ? statistics->mtime_nsec : statistics->mtime_nsec % granularity;
}

template <int64_t granularity>
void Times(posix::Tables& tables) {
  stat_before = Replace(tables.filesystem, &TF_FilesystemOps::stat, StatWithTimes<granularity>);
}

void Unimplemented(posix::Tables& tables) {
  const TwoPathOp op = [](const TF_Filesystem*, const char* source, const char*,
                          TF_Status* status) {
    SetError(status, TF_UNIMPLEMENTED, source, "this plugin does not do that");
  };
  tables.filesystem.rename_file = op;
  tables.filesystem.copy_file = op;
  tables.filesystem.new_read_only_memory_region_from_file =
      [](const TF_Filesystem*, const char* path, TF_ReadOnlyMemoryRegion*, TF_Status* status) {
        SetError(status, TF_UNIMPLEMENTED, path, "this plugin does not do that");
      };
}

void NoOptionalOps(posix::Tables& tables) {
  auto& ops = tables.filesystem;
  ops.recursively_create_dir = nullptr;
  ops.delete_recursively = nullptr;
  ops.rename_file = nullptr;
  ops.copy_file = nullptr;
  ops.paths_exist = nullptr;
  ops.is_directory = nullptr;
  ops.get_file_size = nullptr;
  ops.translate_name = nullptr;
  ops.get_matching_paths = nullptr;
  ops.flush_caches = nullptr;
  tables.writable_file.flush = nullptr;
  tables.writable_file.sync = nullptr;
}

void RefuseBothThemselves(posix::Tables& tables) {
  using Both = OnTwoPaths<2>;
  Both::rename =
      Replace(tables.filesystem, &TF_FilesystemOps::rename_file, RefuseItself<&Both::rename>);
  Both::copy = Replace(tables.filesystem, &TF_FilesystemOps::copy_file, RefuseItself<&Both::copy>);
}

}  // namespace

std::vector<Choice> PathChoices() {
  return {
      {"copy-into-directory", "what copying onto a directory does (A2)", "a file inside it",
       [](posix::Tables& tables) {
         copy_before_inside =
             Replace(tables.filesystem, &TF_FilesystemOps::copy_file, CopyIntoDirectory);
       }},
      {"rename-directories", "whether directories are renamed (A3)", "they are",
       [](posix::Tables& tables) {
         rename_before_directories =
             Replace(tables.filesystem, &TF_FilesystemOps::rename_file, RenameDirectories);
       }},
      {"refuse-itself", "what a file renamed or copied onto itself becomes (A13)",
       "FAILED_PRECONDITION", RefuseBothThemselves},
      {"header-is-directory", "what is_directory answers for a file (A1)", "OK and false",
       [](posix::Tables& tables) {
         is_directory_before =
             Replace(tables.filesystem, &TF_FilesystemOps::is_directory, HeaderIsDirectory);
       }},
      {"refuse-tree-of-file", "what delete_recursively does to a file (A5)", "FAILED_PRECONDITION",
       [](posix::Tables& tables) {
         delete_tree_before =
             Replace(tables.filesystem, &TF_FilesystemOps::delete_recursively, RefuseTreeOfFile);
       }},
      {"coarse-mtime", "how fine the time of modification is (A18)", "whole seconds",
       Times<kSecond>},
      {"no-mtime", "whether the time of modification is known (A18)", "0", Times<0>, false},
      {"illegal-names", "which names are illegal, and what that answers (A4)",
       "control bytes, what is no text, and more than 255 bytes: FAILED_PRECONDITION",
       IllegalNames},
      {"far-below-a-file-is-not-found", "what a path far below a file answers (A24)", "NOT_FOUND",
       FarBelowAFileIsNotFound},
      {"unimplemented", "whether an op that is there may answer UNIMPLEMENTED (A23)",
       "rename_file, copy_file and regions do", Unimplemented, false},
      {"leave-status-alone", "whether success sets the status (A12)", "it stays as it came",
       LeaveStatusAlone},
      {"no-optional-ops", "which ops have to be there", "none that core replaces", NoOptionalOps,
       false},
  };
}

}  // namespace choices
