// Faults of renaming directories, which show from some number of entries on.

#include <cstdio>
#include <string>

#include "faults.h"
#include "names.h"

namespace fakes {
namespace {

void Lose(Filesystem filesystem, const std::string& path) {
  Right().delete_file(filesystem, path.c_str(), Scratch().status());
  DeleteTree(filesystem, path, Scratch().status());
}

// Renames a directory by what a listing of it gives, of which it takes some; the others stay, or
// are lost.
template <size_t (*taken)(const Names&), bool stay>
void RenamesSome(Filesystem filesystem, Path source, Path target, Status status) {
  if (!RenamesADirectory(filesystem, source, target, status)) return;
  const Names names = Sorted(filesystem, target);
  for (size_t k = taken(names); k < names.size(); ++k) {
    if (stay) {
      Right().create_dir(filesystem, source, Scratch().status());
      Right().rename_file(filesystem, Joined(target, names[k]).c_str(),
                          Joined(source, names[k]).c_str(), Scratch().status());
    } else {
      Lose(filesystem, Joined(target, names[k]));
    }
  }
}

size_t APage(const Names& names) { return std::min(names.size(), kPage); }

size_t TwoPages(const Names& names) { return std::min(names.size(), 2 * kPage); }

// Renames what a directory holds, and one page of what each directory in it holds.
void RenamesAPageBelow(Filesystem filesystem, Path source, Path target, Status status) {
  if (!RenamesADirectory(filesystem, source, target, status)) return;
  for (const std::string& name : Children(filesystem, target)) {
    const std::string below = Joined(target, name);
    const Names names = Sorted(filesystem, below);
    for (size_t k = kPage; k < names.size(); ++k) Lose(filesystem, Joined(below, names[k]));
  }
}

// Takes the paths of all files in the tree, in order, of which a store lists one page.
void CollectFiles(Filesystem filesystem, const std::string& directory, Names& files) {
  for (const std::string& name : Sorted(filesystem, directory)) {
    const std::string path = Joined(directory, name);
    if (IsDirectory(filesystem, path))
      CollectFiles(filesystem, path, files);
    else
      files.push_back(path);
  }
}

void RenamesAPageOfFiles(Filesystem filesystem, Path source, Path target, Status status) {
  if (!RenamesADirectory(filesystem, source, target, status)) return;
  Names files;
  CollectFiles(filesystem, target, files);
  for (size_t k = kPage; k < files.size(); ++k) Lose(filesystem, files[k]);
}

// Keeps the names behind a page, and not what they are.
void EmptiesBehindAPage(Filesystem filesystem, Path source, Path target, Status status) {
  if (!RenamesADirectory(filesystem, source, target, status)) return;
  const Names names = Sorted(filesystem, target);
  for (size_t k = kPage; k < names.size(); ++k) {
    const std::string path = Joined(target, names[k]);
    Lose(filesystem, path);
    std::fclose(std::fopen(path.c_str(), "w"));
  }
}

void RenamesAPageAtMost(Filesystem filesystem, Path source, Path target, Status status) {
  if (Children(filesystem, source).size() > kPage)
    return TF_SetStatus(status, TF_INTERNAL, "too many");
  RenamesADirectory(filesystem, source, target, status);
}

}  // namespace

std::vector<Fault> RenamingFaults() {
  constexpr const char* kRenamed = "all of a directory is renamed";
  return {
      {"counts.renames-a-page", "rename_file loses what is behind 1,000 entries of a directory",
       kRenamed, With(&Ops::rename_file, RenamesSome<APage, false>)},
      {"counts.renames-two-pages", "rename_file loses what is behind 2,000 entries of a directory",
       kRenamed, With(&Ops::rename_file, RenamesSome<TwoPages, false>)},
      {"counts.leaves-behind-a-page",
       "rename_file leaves at the source what is behind 1,000 entries of a directory", kRenamed,
       With(&Ops::rename_file, RenamesSome<APage, true>)},
      {"counts.renames-a-page-below",
       "rename_file loses what is behind 1,000 entries of a directory in the one renamed", kRenamed,
       With(&Ops::rename_file, RenamesAPageBelow)},
      {"counts.renames-a-page-of-files",
       "rename_file loses what is behind 1,000 files of a directory and those below", kRenamed,
       With(&Ops::rename_file, RenamesAPageOfFiles)},
      {"counts.empties-behind-a-page",
       "rename_file makes empty files of what is behind 1,000 entries of a directory", kRenamed,
       With(&Ops::rename_file, EmptiesBehindAPage)},
      {"counts.renames-a-page-at-most",
       "rename_file renames directories, and answers INTERNAL where one has more than 1,000 "
       "entries",
       kRenamed, With(&Ops::rename_file, RenamesAPageAtMost)},
      {"counts.renames-64-kib-of-names",
       "rename_file loses what is behind 64 KiB of names of a directory", kRenamed,
       With(&Ops::rename_file, RenamesSome<Fitting, false>)},
  };
}

}  // namespace fakes
