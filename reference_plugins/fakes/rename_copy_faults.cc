// Renaming and copying.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "support/paths.h"

namespace fakes {
namespace {

bool Exists(Filesystem filesystem, Path path) {
  const Scratch scratch;
  Right().path_exists(filesystem, path, scratch.status());
  return Worked(scratch.status());
}

bool IsFile(Filesystem filesystem, Path path) {
  return Exists(filesystem, path) && !IsDirectory(filesystem, path);
}

void Empty(Filesystem filesystem, Path path) {
  TF_WritableFile file = {nullptr};
  const Scratch scratch;
  Right().new_writable_file(filesystem, path, &file, scratch.status());
  if (Worked(scratch.status())) Writing().cleanup(&file);
}

// rename_file

template <auto Entry>
void NoReplace(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(filesystem, source) && IsFile(filesystem, target))
    return TF_SetStatus(status, TF_ALREADY_EXISTS, target);
  (Right().*Entry)(filesystem, source, target, status);
}

void EmptiesOnError(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!Worked(status) && IsFile(filesystem, target)) Empty(filesystem, target);
}

void LosesSourceOnError(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!Worked(status) && IsFile(filesystem, source))
    Right().delete_file(filesystem, source, Scratch().status());
}

void RenameSamePathDeletes(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (Worked(status) && std::string(source) == target)
    Right().delete_file(filesystem, source, status);
}

void MovesDirectories(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!IsDirectory(filesystem, source)) return;
  if (rename(source, target) == 0) {
    TF_SetStatus(status, TF_OK, "");
  } else {
    TF_SetStatusFromIOError(status, errno, target);
  }
}

void PrefixSiblings(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!Worked(status)) return;
  const std::string parent = support::ParentOf(source);
  const std::string path = source;
  const std::string name = NameIn(path);
  for (const std::string& sibling : Children(filesystem, parent)) {
    const std::string from = Joined(parent, sibling);
    if (sibling.size() <= name.size() || sibling.compare(0, name.size(), name) != 0) continue;
    if (from.compare(0, std::string(target).size(), target) == 0) continue;
    Right().rename_file(filesystem, from.c_str(), (target + sibling.substr(name.size())).c_str(),
                        Scratch().status());
  }
}

// A directory, and a target whose parent is missing: either alone is an error, too.
bool IsWrongTwice(Filesystem filesystem, Path source, Path target) {
  return IsDirectory(filesystem, source) && !Exists(filesystem, support::ParentOf(target).c_str());
}

void RenameWrongTwice(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (IsWrongTwice(filesystem, source, target)) TF_SetStatus(status, TF_OK, "");
}

void LosesWrongTwice(Filesystem filesystem, Path source, Path target, Status status) {
  const bool loses = IsWrongTwice(filesystem, source, target);
  RenameWrongTwice(filesystem, source, target, status);
  if (loses) DeleteTree(filesystem, source, Scratch().status());
}

void LosesEmpty(Filesystem filesystem, Path source, Path target, Status status) {
  const bool loses = IsFile(filesystem, source) && SizeOf(source) == 0;
  Right().rename_file(filesystem, source, target, status);
  if (loses && Worked(status)) Right().delete_file(filesystem, target, Scratch().status());
}

// copy_file

void CopyWrongTwice(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (!Exists(filesystem, source) && IsDirectory(filesystem, target))
    TF_SetStatus(status, TF_OK, "");
}

void CopyEmpty(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (Worked(status) && std::string(source) != target) Empty(filesystem, target);
}

void CopySamePathEmpties(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (Worked(status) && std::string(source) == target) Empty(filesystem, target);
}

void IntoDirectory(Filesystem filesystem, Path source, Path target, Status status) {
  const std::string path = source;
  const std::string inside = Joined(target, NameIn(path));
  const bool descends = IsDirectory(filesystem, target);
  Right().copy_file(filesystem, source, descends ? inside.c_str() : target, status);
}

void Truncated(Filesystem filesystem, Path source, Path target, Status status) {
  constexpr off_t kBlock = off_t{128} << 10;
  Right().copy_file(filesystem, source, target, status);
  struct stat facts;
  if (!Worked(status) || stat(target, &facts) != 0 || facts.st_size <= kBlock) return;
  if (std::string(source) != target && truncate(target, facts.st_size / kBlock * kBlock) != 0)
    TF_SetStatusFromIOError(status, errno, target);
}

void KeepsTail(Filesystem filesystem, Path source, Path target, Status status) {
  struct stat before;
  const bool longer = stat(target, &before) == 0 && S_ISREG(before.st_mode);
  Right().copy_file(filesystem, source, target, status);
  struct stat after;
  if (!Worked(status) || !longer || stat(target, &after) != 0) return;
  if (after.st_size < before.st_size && truncate(target, before.st_size) != 0)
    TF_SetStatusFromIOError(status, errno, target);
}

void LeavesTarget(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (TF_GetCode(status) == TF_NOT_FOUND && !Exists(filesystem, target)) Empty(filesystem, target);
}

void LeavesTemporary(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (!Worked(status)) return;
  Right().copy_file(filesystem, source, (std::string(target) + ".tmp").c_str(), Scratch().status());
}

using TwoPaths = void (*)(Filesystem, Path, Path, Status);

Fault Renaming(const char* name, const char* what, const char* breaks, TwoPaths op) {
  return {name, what, breaks, With(&Ops::rename_file, op)};
}

Fault Copying(const char* name, const char* what, const char* breaks, TwoPaths op) {
  return {name, what, breaks, With(&Ops::copy_file, op)};
}

}  // namespace

std::vector<Fault> RenameCopyFaults() {
  constexpr const char* kUnchanged = "on an error, source and target are as before";
  constexpr const char* kSame = "after OK both are there, with the same content";
  constexpr const char* kTwice = "where two things are wrong, the answer is an error";
  constexpr const char* kSelf = "a file renamed or copied to itself keeps its content";
  return {
      Renaming("rename_file.copies", "the source stays", "the source is gone after OK",
               Right().copy_file),
      Renaming("rename_file.no-replace", "an existing target is ALREADY_EXISTS",
               "an existing target is replaced", NoReplace<&Ops::rename_file>),
      Renaming("rename_file.empties-on-error", "a target that is a file is empty after an error",
               kUnchanged, EmptiesOnError),
      Renaming("rename_file.loses-source-on-error",
               "a source that is a file is gone after an error", kUnchanged, LosesSourceOnError),
      Renaming("rename_file.same-path-deletes", "a file renamed to itself is gone", kSelf,
               RenameSamePathDeletes),
      Renaming("rename_file.moves-directories", "directories are renamed",
               "a directory is FAILED_PRECONDITION", MovesDirectories),
      Renaming("rename_file.prefix-siblings",
               "renames siblings whose names begin with the name as well",
               "other paths are left alone", PrefixSiblings),
      Renaming("rename_file.wrong-twice", "a directory and a missing parent of the target are OK",
               kTwice, RenameWrongTwice),
      Renaming("rename_file.wrong-twice-loses",
               "a directory and a missing parent of the target are OK, and the source is gone",
               kTwice, LosesWrongTwice),
      Renaming("rename_file.loses-empty", "an empty file is gone after OK, and so is its target",
               "the target is there after OK", LosesEmpty),
      Copying("copy_file.wrong-twice", "a missing source and a directory as target are OK", kTwice,
              CopyWrongTwice),
      Copying("copy_file.empty", "the target is empty", kSame, CopyEmpty),
      Copying("copy_file.moves", "the source is gone", kSame, Right().rename_file),
      Copying("copy_file.same-path-empties", "a file copied to itself is empty", kSelf,
              CopySamePathEmpties),
      Copying("copy_file.into-directory", "onto a directory, copies into it",
              "a directory as target is FAILED_PRECONDITION (the sources disagree)", IntoDirectory),
      Copying("copy_file.truncated", "beyond 128 KiB, the last block that is not full is lost",
              kSame, Truncated),
      Copying("copy_file.no-overwrite", "an existing target is ALREADY_EXISTS",
              "an existing target is replaced", NoReplace<&Ops::copy_file>),
      Copying("copy_file.keeps-tail", "a longer target keeps its length", kSame, KeepsTail),
      Copying("copy_file.leaves-target", "a missing source leaves an empty target behind",
              kUnchanged, LeavesTarget),
      Copying("copy_file.leaves-temporary", "leaves a second copy, with .tmp behind its name",
              "nothing but the target appears", LeavesTemporary),
  };
}

}  // namespace fakes
