// Making and removing files and directories.

#include <algorithm>
#include <cstdint>
#include <string>

#include "faults.h"
#include "names.h"
#include "support/paths.h"

namespace fakes {
namespace {

// create_dir and recursively_create_dir

void OkIfExists(Filesystem filesystem, Path path, Status status) {
  Right().create_dir(filesystem, path, status);
  if (TF_GetCode(status) == TF_ALREADY_EXISTS) Become(status, TF_OK);
}

void MakesParents(Filesystem filesystem, Path path, Status status) {
  Right().create_dir(filesystem, path, status);
  if (TF_GetCode(status) == TF_NOT_FOUND) Right().recursively_create_dir(filesystem, path, status);
}

void CreatesNothing(Filesystem filesystem, Path path, Status status) {
  Right().create_dir(filesystem, path, status);
  if (Worked(status)) Right().delete_dir(filesystem, path, status);
}

void AlreadyExists(Filesystem filesystem, Path path, Status status) {
  if (IsDirectory(filesystem, path)) return Become(status, TF_ALREADY_EXISTS);
  Right().recursively_create_dir(filesystem, path, status);
}

void OnlyLast(Filesystem filesystem, Path path, Status status) {
  if (IsDirectory(filesystem, path)) return Become(status, TF_OK);
  Right().create_dir(filesystem, path, status);
}

// delete_file and delete_dir

void FileOrDirectory(Filesystem filesystem, Path path, Status status) {
  if (IsDirectory(filesystem, path)) return Right().delete_dir(filesystem, path, status);
  Right().delete_file(filesystem, path, status);
}

void DirectoryOrFile(Filesystem filesystem, Path path, Status status) {
  Right().delete_dir(filesystem, path, status);
  if (TF_GetCode(status) == TF_FAILED_PRECONDITION && !IsDirectory(filesystem, path))
    Right().delete_file(filesystem, path, status);
}

void DeletesNothing(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (Worked(status) && IsDirectory(filesystem, path)) Become(status, TF_FAILED_PRECONDITION);
}

void MakesItAgain(Filesystem filesystem, Path path, Status status) {
  Right().delete_dir(filesystem, path, status);
  if (Worked(status)) Right().create_dir(filesystem, path, status);
}

void KeepsEmptyFiles(Filesystem filesystem, Path path, Status status) {
  TF_FileStatistics facts;
  Right().stat(filesystem, path, &facts, status);
  if (Worked(status) && !facts.is_directory && facts.length == 0) return;
  Right().delete_file(filesystem, path, status);
}

void FullDirectory(Filesystem filesystem, Path path, Status status) {
  if (!IsDirectory(filesystem, path)) return Right().delete_dir(filesystem, path, status);
  DeleteTree(filesystem, path, status);
}

// delete_recursively

void LeavesFiles(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  Right().path_exists(filesystem, path, status);
  *files = 0;
  *dirs = Worked(status) ? 0 : 1;
}

void OnlyEmptyDirectories(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                          Status status) {
  if (!IsDirectory(filesystem, path))
    return Right().delete_recursively(filesystem, path, files, dirs, status);
  *files = 0;
  Right().delete_dir(filesystem, path, status);
  *dirs = Worked(status) ? 0 : 1;
}

void CountersUntouched(Filesystem filesystem, Path path, uint64_t*, uint64_t*, Status status) {
  DeleteTree(filesystem, path, status);
}

void CountersUntouchedOnError(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                              Status status) {
  const uint64_t before[] = {*files, *dirs};
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (Worked(status)) return;
  *files = before[0];
  *dirs = before[1];
}

void CountsWrong(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  Right().delete_recursively(filesystem, path, dirs, files, status);
}

void CountsDeleted(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                   Status status) {
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (Worked(status)) *files += 1;
}

void ErrorCountsNothing(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                        Status status) {
  Right().delete_recursively(filesystem, path, files, dirs, status);
  *files = *dirs = 0;
}

void FileIsError(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  Right().path_exists(filesystem, path, status);
  if (!Worked(status) || IsDirectory(filesystem, path))
    return Right().delete_recursively(filesystem, path, files, dirs, status);
  *files = 0;
  *dirs = 1;
  Become(status, TF_FAILED_PRECONDITION);
}

void PrefixSiblings(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                    Status status) {
  const std::string parent = support::ParentOf(path);
  const std::string name = NameIn(path);
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status) || name.empty()) return;
  for (const std::string& sibling : Children(filesystem, parent)) {
    if (sibling.compare(0, name.size(), name) != 0) continue;
    DeleteTree(filesystem, Joined(parent, sibling), Scratch().status());
  }
}

// What begins with a dot is overlooked: a directory that holds nothing else is deleted with it.
void DeletesHidden(Filesystem filesystem, Path path, Status status) {
  const auto names = Children(filesystem, path);
  const bool is_hidden_only =
      std::all_of(names.begin(), names.end(), [](const auto& name) { return name.front() == '.'; });
  if (names.empty() || !is_hidden_only) return Right().delete_dir(filesystem, path, status);
  DeleteTree(filesystem, path, status);
}

// Deletes what `goes` accepts in the directory, and says OK whatever stays.
template <bool (*goes)(size_t number, const std::string& name)>
void DeletesSome(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  const auto names = Children(filesystem, path);
  for (size_t k = 0; k < names.size(); ++k) {
    if (!goes(k, names[k])) continue;
    Right().delete_recursively(filesystem, Joined(path, names[k]).c_str(), files, dirs,
                               Scratch().status());
  }
  if (!names.empty()) {
    Right().delete_dir(filesystem, path, Scratch().status());
    *files = *dirs = 0;
    return Become(status, TF_OK);
  }
  Right().delete_recursively(filesystem, path, files, dirs, status);
}

bool IsVisible(size_t, const std::string& name) { return name.front() != '.'; }
bool IsOfFirstThousand(size_t number, const std::string&) { return number < 1000; }

void OkMidway(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (TF_GetCode(status) == TF_INVALID_ARGUMENT) Become(status, TF_OK);
}

void CountsOne(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs, Status status) {
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (Worked(status)) return;
  *files = 0;
  *dirs = 1;
}

using OnePath = void (*)(Filesystem, Path, Status);
using Recursive = void (*)(Filesystem, Path, uint64_t*, uint64_t*, Status);

template <auto Entry>
Fault On(const char* name, const char* what, const char* breaks, OnePath op) {
  return {name, what, breaks, With(Entry, op)};
}

Fault Deleting(const char* name, const char* what, const char* breaks, Recursive op) {
  return {name, what, breaks, With(&Ops::delete_recursively, op)};
}

}  // namespace

std::vector<Fault> TreeFaults() {
  constexpr auto kCreate = &Ops::create_dir;
  constexpr auto kCreateAll = &Ops::recursively_create_dir;
  constexpr auto kDeleteFile = &Ops::delete_file;
  constexpr auto kDeleteDir = &Ops::delete_dir;
  constexpr const char* kCounters =
      "the counters say what was not deleted: 0 and 0 on success, 0 and 1 where it could not start";
  return {
      On<kCreate>("create_dir.ok-if-exists", "an existing path is OK",
                  "an existing path is ALREADY_EXISTS", OkIfExists),
      On<kCreate>("create_dir.makes-parents", "creates the parents that are missing",
                  "a missing parent is NOT_FOUND", MakesParents),
      On<kCreate>("create_dir.creates-nothing", "says OK, and there is no directory",
                  "the directory is there after OK", CreatesNothing),
      On<kCreateAll>("recursively_create_dir.already-exists",
                     "an existing directory is ALREADY_EXISTS", "an existing directory is OK",
                     AlreadyExists),
      On<kCreateAll>("recursively_create_dir.only-last", "does not create parents",
                     "parents that are missing are created", OnlyLast),
      On<kDeleteFile>("delete_file.deletes-directory", "deletes an empty directory",
                      "a directory is FAILED_PRECONDITION", FileOrDirectory),
      On<kDeleteFile>("delete_file.deletes-nothing", "says OK, and the file stays",
                      "the file is gone after OK", DeletesNothing),
      On<kDeleteFile>("delete_file.keeps-empty-files", "says OK of an empty file, which stays",
                      "the file is gone after OK", KeepsEmptyFiles),
      On<kDeleteDir>("delete_dir.deletes-nothing", "says OK, and the directory stays",
                     "the directory is gone after OK", MakesItAgain),
      On<kDeleteDir>("delete_dir.recursive", "deletes a directory with all it holds",
                     "a directory that is not empty is FAILED_PRECONDITION", FullDirectory),
      On<kDeleteDir>("delete_dir.deletes-file", "deletes a file",
                     "what is no directory is FAILED_PRECONDITION", DirectoryOrFile),
      On<kDeleteDir>("delete_dir.deletes-hidden",
                     "deletes a directory in which all names begin with a dot",
                     "a directory that is not empty is FAILED_PRECONDITION", DeletesHidden),
      Deleting("delete_recursively.skips-hidden", "names that begin with a dot stay",
               "the tree is gone after OK", DeletesSome<IsVisible>),
      Deleting("delete_recursively.first-thousand", "deletes 1,000 entries of a directory at most",
               "the tree is gone after OK", DeletesSome<IsOfFirstThousand>),
      Deleting("delete_recursively.ok-midway", "says OK where something could not be deleted",
               "the status is the reason", OkMidway),
      Deleting("delete_recursively.counts-one", "an error is 0 files and 1 directory always",
               kCounters, CountsOne),
      Deleting("delete_recursively.leaves-files", "says OK, and everything stays",
               "the tree is gone after OK", LeavesFiles),
      Deleting("delete_recursively.only-empty", "a directory that is not empty is an error",
               "the tree is gone after OK", OnlyEmptyDirectories),
      Deleting("delete_recursively.counters-untouched", "never writes the counters", kCounters,
               CountersUntouched),
      Deleting("delete_recursively.counters-untouched-on-error",
               "writes the counters only when all went well", kCounters, CountersUntouchedOnError),
      Deleting("delete_recursively.counts-wrong", "mistakes one counter for the other", kCounters,
               CountsWrong),
      Deleting("delete_recursively.counts-deleted", "counts what it did delete", kCounters,
               CountsDeleted),
      Deleting("delete_recursively.error-counts-nothing", "both counters are 0, whatever happened",
               kCounters, ErrorCountsNothing),
      Deleting("delete_recursively.file-is-error", "a file is FAILED_PRECONDITION, and stays",
               "a file is deleted, as TensorFlow's default does", FileIsError),
      Deleting("delete_recursively.prefix-siblings",
               "deletes siblings whose names begin with the name", "other paths are left alone",
               PrefixSiblings),
  };
}

}  // namespace fakes
