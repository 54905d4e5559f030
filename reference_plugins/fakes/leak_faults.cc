// What an op leaves behind each time, from some size on or in one use only.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "faults.h"
#include "kernel.h"
#include "losses.h"
#include "names.h"

namespace fakes {
namespace {

// What a size costs each time: of a directory, a file, a tree, a name, a number of calls.

constexpr off_t kLarge = 128 << 10;

bool IsLarge(Path path) { return SizeOf(path) > kLarge; }

template <size_t most>
bool HoldsMore(Path path) {
  return Children(nullptr, path).size() > most;
}

// Whether a directory within the tree holds so many directories, down to so many levels.
template <size_t least, int levels>
bool IsNested(Path path) {
  size_t found = 0;
  for (const std::string& name : Children(nullptr, path)) {
    const std::string below = Joined(path, name);
    if (!IsDirectory(below.c_str())) continue;
    if constexpr (levels > 1)
      found += IsNested<least, levels - 1>(below.c_str()) ? 1 : 0;
    else
      ++found;
  }
  return found >= least;
}

template <size_t most>
bool IsLongPath(Path path) {
  return std::strlen(path) > most;
}

template <size_t most>
bool IsLongName(Path path) {
  const char* slash = std::strrchr(path, '/');
  return std::strlen(slash == nullptr ? path : slash + 1) > most;
}

template <size_t most>
bool IsDeep(Path path) {
  return static_cast<size_t>(std::count(path, path + std::strlen(path), '/')) > most;
}

// An op that loses something where its path is such a one.
template <auto op, bool (*met)(const char*), void (*lose)() = LoseADescriptor, typename... More>
auto Loses(Filesystem filesystem, Path path, More... more) {
  if (met(path)) lose();
  return (Right().*op)(filesystem, path, more...);
}

template <auto op, bool (*met)(Path), void (*lose)() = LoseADescriptor>
auto Losing() {
  return With(op, Loses<op, met, lose>);
}

// What a path costs that this op has not met before: a record that nothing removes.
template <auto op>
bool IsNew(Path path) {
  static std::mutex mutex;
  static std::set<std::string> met;
  const std::lock_guard<std::mutex> lock(mutex);
  return met.insert(path).second;
}

void LosesByANewTarget(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsNew<&Ops::rename_file>(target)) LoseBytes();
  Right().rename_file(filesystem, source, target, status);
}

// As an op that loses something, where it found what was meant.
template <auto op, typename... More>
auto LosesByANewFind(Filesystem filesystem, Path path, More... more) {
  struct stat facts;
  if (stat(path, &facts) == 0 && IsNew<op>(path)) LoseBytes();
  return (Right().*op)(filesystem, path, more...);
}

void LosesByANewParent(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const std::string parent(path, std::strrchr(path, '/'));
  if (IsNew<&Ops::new_writable_file>(parent.c_str())) LoseBytes();
  Right().new_writable_file(filesystem, path, file, status);
}

int LosesByANewUri(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  if (std::strstr(pattern, "://") != nullptr && IsNew<&Ops::get_matching_paths>(pattern))
    LoseBytes();
  return Right().get_matching_paths(filesystem, pattern, entries, status);
}

template <auto op>
void LosesByItself(Filesystem filesystem, Path source, Path target, Status status) {
  if (std::strcmp(source, target) == 0) LoseADescriptor();
  (Right().*op)(filesystem, source, target, status);
}

void LosesByALongTarget(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsLongName<150>(target)) LoseBytes();
  Right().rename_file(filesystem, source, target, status);
}

template <int most>
int MatchesAndLoses(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count > most) LoseADescriptor();
  return count;
}

bool AsksAndLoses(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  if (count > 64) LoseBytes();
  return Right().paths_exist(filesystem, paths, count, statuses);
}

int64_t LosesByALargeRead(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (got > kLarge) LoseADescriptor();
  return got;
}

int64_t LosesByAShortRead(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (got >= 0 && static_cast<size_t>(got) < n) LoseADescriptor();
  return got;
}

void LosesByALargeAppend(Writer file, const char* buffer, size_t n, Status status) {
  if (static_cast<off_t>(n) > kLarge) LoseBytes();
  Writing().append(file, buffer, n, status);
}

void LosesBySync(Writer file, Status status) {
  LoseADescriptor();
  Writing().sync(file, status);
}

PerObject<bool> closed_before;
PerObject<int> appends_before;

void NotesClose(Writer file, Status status) {
  closed_before.Set(file->plugin_file, true);
  Writing().close(file, status);
}

void LosesWithoutClose(TF_WritableFile* file) {
  if (!closed_before.Of(file->plugin_file)) LoseADescriptor();
  Forgets<closed_before>(file);
}

void LosesByAnEmptyAppend(Writer file, const char* buffer, size_t n, Status status) {
  if (n == 0) LoseBytes();
  Writing().append(file, buffer, n, status);
}

void LosesByManyAppends(Writer file, const char* buffer, size_t n, Status status) {
  if (appends_before.With(file->plugin_file, [](int& appends) { return ++appends; }) == 17)
    LoseADescriptor();
  Writing().append(file, buffer, n, status);
}

}  // namespace

std::vector<Fault> LeakFaults() {
  constexpr const char* kState = "an op leaves the process as it found it";
  return {
      {"leaks.lists-64", "get_children of more than 64 entries leaves a descriptor", kState,
       Losing<&Ops::get_children, HoldsMore<64>>()},
      {"leaks.lists-512", "get_children of more than 512 entries loses 16 bytes", kState,
       Losing<&Ops::get_children, HoldsMore<512>, LoseBytes>()},
      {"leaks.asks-of-64",
       "is_directory of a directory of more than 64 entries leaves a descriptor", kState,
       Losing<&Ops::is_directory, HoldsMore<64>>()},
      {"leaks.refuses-64", "delete_dir of a directory of more than 64 entries loses 16 bytes",
       kState, Losing<&Ops::delete_dir, HoldsMore<64>, LoseBytes>()},
      {"leaks.matches-64", "get_matching_paths of more than 64 matches leaves a descriptor", kState,
       With(&Ops::get_matching_paths, MatchesAndLoses<64>)},
      {"leaks.asks-for-64", "paths_exist of more than 64 paths loses 16 bytes", kState,
       With(&Ops::paths_exist, AsksAndLoses)},
      {"leaks.copies-128-kib", "copy_file of more than 128 KiB leaves a descriptor", kState,
       Losing<&Ops::copy_file, IsLarge>()},
      {"leaks.renames-128-kib", "rename_file of more than 128 KiB loses 16 bytes", kState,
       Losing<&Ops::rename_file, IsLarge, LoseBytes>()},
      {"leaks.maps-128-kib", "a region of more than 128 KiB leaves a descriptor", kState,
       Losing<&Ops::new_read_only_memory_region_from_file, IsLarge>()},
      {"leaks.reads-128-kib", "a read of more than 128 KiB leaves a descriptor", kState,
       With(&ReaderOps::read, LosesByALargeRead)},
      {"leaks.appends-128-kib", "an append of more than 128 KiB loses 16 bytes", kState,
       With(&WriterOps::append, LosesByALargeAppend)},
      {"leaks.appends-nothing", "an append of no bytes loses 16", kState,
       With(&WriterOps::append, LosesByAnEmptyAppend)},
      {"leaks.deletes-128-kib", "delete_file of more than 128 KiB leaves a descriptor", kState,
       Losing<&Ops::delete_file, IsLarge>()},
      {"leaks.deletes-two-inside",
       "delete_recursively of a directory with two directories inside leaves a descriptor", kState,
       Losing<&Ops::delete_recursively, IsNested<2, 1>>()},
      {"leaks.deletes-one-inside",
       "delete_recursively of a directory with a directory inside leaves a descriptor", kState,
       Losing<&Ops::delete_recursively, IsNested<1, 1>>()},
      {"leaks.deletes-four-levels", "delete_recursively of more than four levels loses 16 bytes",
       kState, Losing<&Ops::delete_recursively, IsNested<1, 4>, LoseBytes>()},
      {"leaks.renames-two-levels",
       "rename_file of a directory with a directory inside leaves a descriptor", kState,
       Losing<&Ops::rename_file, IsNested<1, 1>>()},
      {"leaks.opens-a-long-path",
       "new_random_access_file of a path of more than 150 bytes leaves a descriptor", kState,
       Losing<&Ops::new_random_access_file, IsLongPath<150>>()},
      {"leaks.stats-a-long-name", "stat of a name of more than 150 bytes loses 16 bytes", kState,
       Losing<&Ops::stat, IsLongName<150>, LoseBytes>()},
      {"leaks.makes-a-long-name", "create_dir of a name of more than 150 bytes leaves a descriptor",
       kState, Losing<&Ops::create_dir, IsLongName<150>>()},
      {"leaks.renames-to-a-long-name",
       "rename_file to a name of more than 150 bytes loses 16 bytes", kState,
       With(&Ops::rename_file, LosesByALongTarget)},
      {"leaks.writes-a-deep-path",
       "new_writable_file of a path of more than 24 levels leaves a descriptor", kState,
       Losing<&Ops::new_writable_file, IsDeep<24>>()},
      {"leaks.copied-onto-itself", "copy_file of a file onto itself leaves a descriptor", kState,
       With(&Ops::copy_file, LosesByItself<&Ops::copy_file>)},
      {"leaks.renamed-onto-itself", "rename_file of a file onto itself leaves a descriptor", kState,
       With(&Ops::rename_file, LosesByItself<&Ops::rename_file>)},
      {"leaks.short-read", "a read to the end of the file leaves a descriptor", kState,
       With(&ReaderOps::read, LosesByAShortRead)},
      {"leaks.dropped-writer", "a cleanup of a writer that was not closed leaves a descriptor",
       kState,
       Together(With(&WriterOps::close, NotesClose), With(&WriterOps::cleanup, LosesWithoutClose))},
      {"leaks.synced", "sync leaves a descriptor", kState, With(&WriterOps::sync, LosesBySync)},
      {"leaks.appends-16-times", "the 17th append to a file leaves a descriptor", kState,
       Together(With(&WriterOps::append, LosesByManyAppends),
                With(&WriterOps::cleanup, Forgets<appends_before>))},
      {"leaks.new-paths-asked-for", "path_exists keeps each path that it is asked for", kState,
       Losing<&Ops::path_exists, IsNew<&Ops::path_exists>, LoseBytes>()},
      {"leaks.new-paths-opened",
       "new_random_access_file leaves a descriptor for each path that is new", kState,
       Losing<&Ops::new_random_access_file, IsNew<&Ops::new_random_access_file>>()},
      {"leaks.new-files", "new_writable_file keeps each path that it is given", kState,
       Losing<&Ops::new_writable_file, IsNew<&Ops::new_writable_file>, LoseBytes>()},
      {"leaks.new-directories", "create_dir keeps each path that it is given", kState,
       Losing<&Ops::create_dir, IsNew<&Ops::create_dir>, LoseBytes>()},
      {"leaks.new-paths-deleted", "delete_file keeps each path that it is given", kState,
       Losing<&Ops::delete_file, IsNew<&Ops::delete_file>, LoseBytes>()},
      {"leaks.new-targets", "rename_file keeps each target that it is given", kState,
       With(&Ops::rename_file, LosesByANewTarget)},
      {"leaks.new-patterns", "get_matching_paths keeps each pattern that it is given", kState,
       Losing<&Ops::get_matching_paths, IsNew<&Ops::get_matching_paths>, LoseBytes>()},
      {"leaks.new-names", "translate_name keeps each name that it is given", kState,
       Losing<&Ops::translate_name, IsNew<&Ops::translate_name>, LoseBytes>()},
      {"leaks.new-paths-found", "path_exists keeps each path that it found", kState,
       With(&Ops::path_exists, LosesByANewFind<&Ops::path_exists>)},
      {"leaks.new-paths-listed", "get_children keeps each path that it found", kState,
       With(&Ops::get_children, LosesByANewFind<&Ops::get_children>)},
      {"leaks.new-sources", "copy_file keeps each source that it found", kState,
       With(&Ops::copy_file, LosesByANewFind<&Ops::copy_file>)},
      {"leaks.new-trees", "delete_recursively keeps each path that it found", kState,
       With(&Ops::delete_recursively, LosesByANewFind<&Ops::delete_recursively>)},
      {"leaks.new-parents", "new_writable_file keeps each directory that it is given a path in",
       kState, With(&Ops::new_writable_file, LosesByANewParent)},
      {"leaks.new-uris", "get_matching_paths keeps each pattern that is a URI", kState,
       With(&Ops::get_matching_paths, LosesByANewUri)},
  };
}

}  // namespace fakes
