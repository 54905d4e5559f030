// What the ops answer where the sources contradict each other.

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "choices.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetErrno;
using support::SetError;
using support::SetOk;

constexpr TF_Code kRefusal = TF_FAILED_PRECONDITION;

bool IsFile(Path path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool IsDirectory(Path path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

void CopyIntoDirectory(Filesystem filesystem, Path source, Path target, Status status) {
  support::Guarded(status, target, [&] {
    std::string inside = target;
    if (IsFile(source) && IsDirectory(target)) {
      inside += "/" + std::string(support::Components(source).back());
    }
    before<CopyIntoDirectory>(filesystem, source, inside.c_str(), status);
  });
}

void RenameDirectories(Filesystem filesystem, Path source, Path target, Status status) {
  if (!IsDirectory(source) || IsDirectory(target))
    return before<RenameDirectories>(filesystem, source, target, status);
  SetErrno(status, rename(source, target) == 0 ? 0 : errno, target);
}

template <auto Entry>
void RefuseItself(Filesystem filesystem, Path source, Path target, Status status) {
  if (std::strcmp(source, target) == 0 && IsFile(source))
    return SetError(status, kRefusal, source, "it is its own target");
  before<RefuseItself<Entry>>(filesystem, source, target, status);
}

bool HeaderIsDirectory(Filesystem filesystem, Path path, Status status) {
  if (!IsFile(path)) return before<HeaderIsDirectory>(filesystem, path, status);
  SetOk(status);
  return false;
}

void RefuseTreeOfFile(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                      Status status) {
  if (!IsFile(path)) return before<RefuseTreeOfFile>(filesystem, path, files, dirs, status);
  *files = 0;
  *dirs = 1;
  SetErrno(status, ENOTDIR, path);
}

constexpr int64_t kSecond = 1'000'000'000;

void CoarseTimes(Filesystem filesystem, Path path, TF_FileStatistics* statistics, Status status) {
  before<CoarseTimes>(filesystem, path, statistics, status);
  if (TF_GetCode(status) == TF_OK)
    statistics->mtime_nsec -= statistics->mtime_nsec % static_cast<int64_t>(AmountOr(kSecond));
}

void NoTimes(Filesystem filesystem, Path path, TF_FileStatistics* statistics, Status status) {
  before<NoTimes>(filesystem, path, statistics, status);
  if (TF_GetCode(status) == TF_OK) statistics->mtime_nsec = 0;
}

void SkewedTimes(Filesystem filesystem, Path path, TF_FileStatistics* statistics, Status status) {
  before<SkewedTimes>(filesystem, path, statistics, status);
  if (TF_GetCode(status) == TF_OK) statistics->mtime_nsec += 3600 * kSecond;
}

void Unimplemented(support::Tables& tables) {
  const auto op = [](Filesystem, Path source, Path, Status status) {
    SetError(status, TF_UNIMPLEMENTED, source, "this plugin does not do that");
  };
  tables.filesystem.rename_file = op;
  tables.filesystem.copy_file = op;
  tables.filesystem.new_read_only_memory_region_from_file =
      [](Filesystem, Path path, TF_ReadOnlyMemoryRegion*, Status status) {
        SetError(status, TF_UNIMPLEMENTED, path, "this plugin does not do that");
      };
}

}  // namespace

std::vector<Choice> PathChoices() {
  return {
      {"copy-into-directory", "what copying onto a directory does (A2)", "a file inside it",
       Take<&Ops::copy_file, CopyIntoDirectory>},
      {"rename-directories", "whether directories are renamed (A3)", "they are",
       Take<&Ops::rename_file, RenameDirectories>},
      {"refuse-itself", "what a file renamed or copied onto itself becomes (A13)",
       "FAILED_PRECONDITION",
       TakeTwoPathOps<RefuseItself<&Ops::rename_file>, RefuseItself<&Ops::copy_file>>},
      {"header-is-directory", "what is_directory answers for a file (A1)", "OK and false",
       Take<&Ops::is_directory, HeaderIsDirectory>},
      {"refuse-tree-of-file", "what delete_recursively does to a file (A5)", "FAILED_PRECONDITION",
       Take<&Ops::delete_recursively, RefuseTreeOfFile>},
      {"coarse-mtime", "how fine the time of modification is (A18)", "whole seconds",
       Take<&Ops::stat, CoarseTimes>},
      {"no-mtime", "whether the time of modification is known (A18)", "0",
       Take<&Ops::stat, NoTimes>, false},
      {"skewed-mtime", "whose clock the time of modification is of", "one that is an hour ahead",
       Take<&Ops::stat, SkewedTimes>, false},
      {"unimplemented", "whether an op that is there may answer UNIMPLEMENTED (A23)",
       "rename_file, copy_file and regions do", Unimplemented, false},
  };
}

}  // namespace choices
