// What the ops answer where the sources contradict each other.

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "choices.h"
#include "path_ops.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetErrno;
using support::SetError;
using support::SetOk;

constexpr TF_Code kRefusal = TF_FAILED_PRECONDITION;

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
                       TF_Status* status) {
  support::Guarded(status, target, [&] {
    std::string inside = target;
    if (IsFile(source) && IsDirectory(target)) {
      inside += "/" + std::string(support::Components(source).back());
    }
    copy_before_inside(filesystem, source, inside.c_str(), status);
  });
}

TwoPathOp rename_before_directories;
void RenameDirectories(const TF_Filesystem* filesystem, const char* source, const char* target,
                       TF_Status* status) {
  if (!IsDirectory(source) || IsDirectory(target)) {
    return rename_before_directories(filesystem, source, target, status);
  }
  SetErrno(status, rename(source, target) == 0 ? 0 : errno, target);
}

template <TwoPathOp* before>
void RefuseItself(const TF_Filesystem* filesystem, const char* source, const char* target,
                  TF_Status* status) {
  if (std::strcmp(source, target) == 0 && IsFile(source)) {
    return SetError(status, kRefusal, source, "it is its own target");
  }
  (*before)(filesystem, source, target, status);
}

decltype(TF_FilesystemOps::is_directory) is_directory_before;
bool HeaderIsDirectory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  if (!IsFile(path)) return is_directory_before(filesystem, path, status);
  SetOk(status);
  return false;
}

decltype(TF_FilesystemOps::delete_recursively) delete_tree_before;
void RefuseTreeOfFile(const TF_Filesystem* filesystem, const char* path, uint64_t* files,
                      uint64_t* dirs, TF_Status* status) {
  if (!IsFile(path)) return delete_tree_before(filesystem, path, files, dirs, status);
  *files = 0;
  *dirs = 1;
  SetErrno(status, ENOTDIR, path);
}

constexpr int64_t kSecond = 1'000'000'000;

template <int64_t granularity>
decltype(TF_FilesystemOps::stat) stat_before;

template <int64_t granularity>
void StatWithTimes(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
                   TF_Status* status) {
  stat_before<granularity>(filesystem, path, statistics, status);
  if (TF_GetCode(status) != TF_OK) return;
  statistics->mtime_nsec -=
      granularity == 0 ? statistics->mtime_nsec : statistics->mtime_nsec % granularity;
}

template <int64_t granularity>
void Times(support::Tables& tables) {
  stat_before<granularity> =
      Replace(tables.filesystem, &TF_FilesystemOps::stat, StatWithTimes<granularity>);
}

void Unimplemented(support::Tables& tables) {
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

void RefuseBothThemselves(support::Tables& tables) {
  using Both = OnTwoPaths<2>;
  Both::rename =
      Replace(tables.filesystem, &TF_FilesystemOps::rename_file, RefuseItself<&Both::rename>);
  Both::copy = Replace(tables.filesystem, &TF_FilesystemOps::copy_file, RefuseItself<&Both::copy>);
}

}  // namespace

std::vector<Choice> PathChoices() {
  return {
      {"copy-into-directory", "what copying onto a directory does (A2)", "a file inside it",
       [](support::Tables& tables) {
         copy_before_inside =
             Replace(tables.filesystem, &TF_FilesystemOps::copy_file, CopyIntoDirectory);
       }},
      {"rename-directories", "whether directories are renamed (A3)", "they are",
       [](support::Tables& tables) {
         rename_before_directories =
             Replace(tables.filesystem, &TF_FilesystemOps::rename_file, RenameDirectories);
       }},
      {"refuse-itself", "what a file renamed or copied onto itself becomes (A13)",
       "FAILED_PRECONDITION", RefuseBothThemselves},
      {"header-is-directory", "what is_directory answers for a file (A1)", "OK and false",
       [](support::Tables& tables) {
         is_directory_before =
             Replace(tables.filesystem, &TF_FilesystemOps::is_directory, HeaderIsDirectory);
       }},
      {"refuse-tree-of-file", "what delete_recursively does to a file (A5)", "FAILED_PRECONDITION",
       [](support::Tables& tables) {
         delete_tree_before =
             Replace(tables.filesystem, &TF_FilesystemOps::delete_recursively, RefuseTreeOfFile);
       }},
      {"coarse-mtime", "how fine the time of modification is (A18)", "whole seconds",
       Times<kSecond>},
      {"no-mtime", "whether the time of modification is known (A18)", "0", Times<0>, false},
      {"unimplemented", "whether an op that is there may answer UNIMPLEMENTED (A23)",
       "rename_file, copy_file and regions do", Unimplemented, false},
  };
}

}  // namespace choices
