// Faults that show only where a certain name stands beside a path: one that the plugin takes for
// its own.

#include <unistd.h>

#include <string>
#include <tuple>

#include "faults.h"
#include "names.h"
#include "writers.h"

namespace fakes {
namespace {

bool EndsWith(const std::string& path, const std::string& end) {
  return path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

// The name of a neighbour, made of what stands before and behind the name.
using Beside = std::string (*)(const std::string& path);

std::string Sum(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".crc";
}
std::string Temporary(const std::string& path) { return path + ".tmp"; }
std::string Part(const std::string& path) { return path + ".part"; }
std::string Backup(const std::string& path) { return path + "~"; }
std::string Lock(const std::string& path) { return path + ".lock"; }
std::string Incomplete(const std::string& path) { return path + ".incomplete"; }
std::string Metadata(const std::string& path) { return path + ".meta"; }
std::string New(const std::string& path) { return path + ".new"; }
std::string Old(const std::string& path) { return path + ".old"; }
std::string Marker(const std::string& path) { return path + "_$folder$"; }

void Delete(Filesystem filesystem, const std::string& path) {
  Right().delete_file(filesystem, path.c_str(), Scratch().status());
}

// An op that works, and deletes a neighbour of its first path with it.
template <auto Entry, Beside beside, typename... Rest>
auto TakesAlong(Filesystem filesystem, Path path, Rest... rest) {
  const std::string taken = beside(path);
  (Right().*Entry)(filesystem, path, rest...);
  if (Worked(std::get<sizeof...(Rest) - 1>(std::tuple(rest...)))) Delete(filesystem, taken);
}

// The copy gets its name when it is whole. Nobody looks whether its first name is free.
void CopiesThroughAName(Filesystem filesystem, Path src, Path dst, Status status) {
  const std::string first = Temporary(dst);
  Right().path_exists(filesystem, dst, status);
  const bool is_there = Worked(status);
  if (is_there && Right().is_directory(filesystem, dst, Scratch().status()))
    return Right().copy_file(filesystem, src, dst, status);
  Right().copy_file(filesystem, src, first.c_str(), status);
  if (Worked(status)) Right().rename_file(filesystem, first.c_str(), dst, status);
}

void ClearsItsPart(Writer file, Status status) {
  const std::string path = PathOf(file);
  Writing().close(file, status);
  if (Worked(status) && !path.empty()) unlink(Part(path).c_str());
}

// What is written stands under another name, too, until it is whole.
void WritesApart(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (Worked(status)) Delete(filesystem, path + std::string(".partial"));
}

void SyncClearsATemporary(Writer file, Status status) {
  Writing().sync(file, status);
  const std::string path = PathOf(file);
  if (Worked(status) && !path.empty()) unlink(Temporary(path).c_str());
}

// A temporary file that was left over is of no use where the file is made anew.
void AppendsClearATemporary(Filesystem filesystem, Path path, TF_WritableFile* file,
                            Status status) {
  Right().path_exists(filesystem, path, status);
  const bool is_new = TF_GetCode(status) == TF_NOT_FOUND;
  Right().new_appendable_file(filesystem, path, file, status);
  if (Worked(status) && is_new) Delete(filesystem, Temporary(path));
}

PerObject<std::string> paths_of_readers;

void GivesTheLockBack(TF_RandomAccessFile* file) {
  const std::string path = paths_of_readers.Of(file->plugin_file);
  Forgets<paths_of_readers>(file);
  unlink(Lock(path).c_str());
}

// An op that takes a file beside the path for what the path holds.
template <auto Entry, Beside beside, typename... Rest>
auto TakesInstead(Filesystem filesystem, Path path, Rest... rest) {
  const std::string other = beside(path);
  const bool is_there = Right().get_file_size(filesystem, path, Scratch().status()) >= 0 &&
                        Right().get_file_size(filesystem, other.c_str(), Scratch().status()) >= 0;
  return (Right().*Entry)(filesystem, is_there ? other.c_str() : path, rest...);
}

bool TakesTheMarkerForAll(Filesystem filesystem, Path path, Status status) {
  const bool is_one = Right().is_directory(filesystem, path, status);
  if (TF_GetCode(status) != TF_FAILED_PRECONDITION && (is_one || !Worked(status))) return is_one;
  Right().path_exists(filesystem, Marker(path).c_str(), status);
  return Worked(status) || Right().is_directory(filesystem, path, status);
}

// What was written apart gets its name by a copy, and nobody deletes it.
void CopiesAPart(Filesystem filesystem, Path src, Path dst, Status status) {
  if (src == Part(dst)) return Right().copy_file(filesystem, src, dst, status);
  Right().rename_file(filesystem, src, dst, status);
}

// The backup of a file is as good as the file.
void KeepsWhatHasABackup(Filesystem filesystem, Path src, Path dst, Status status) {
  if (src == Backup(dst)) {
    Right().path_exists(filesystem, dst, status);
    if (Worked(status)) return;
  }
  Right().copy_file(filesystem, src, dst, status);
}

// A file that keeps a directory alive is nothing.
void PassesOverAKeeper(Filesystem filesystem, Path path, Status status) {
  if (Children(filesystem, path) == Names{".keep"}) Delete(filesystem, Joined(path, ".keep"));
  Right().delete_dir(filesystem, path, status);
}

bool IsOfTheJob(const std::string& name) {
  return name == "_temporary" || name == ".DS_Store" || name == "lost+found";
}
bool IsHidden(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  return name < path.size() && path[name] == '_';
}

// Leaves out the entries that the plugin takes for its own.
template <bool (*is_own)(const std::string& name)>
void Hides(Filesystem, const std::string&, Names& names) {
  LeaveOut(names, is_own);
}

bool IsSum(const std::string& name) { return name.front() == '.' && EndsWith(name, ".crc"); }
bool IsMarker(const std::string& name) { return EndsWith(name, "_$folder$"); }
bool IsCopying(const std::string& name) { return EndsWith(name, "._COPYING_"); }

// A directory is there where its marker is.
void TakesTheMarker(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (TF_GetCode(status) == TF_NOT_FOUND)
    Right().path_exists(filesystem, Marker(path).c_str(), status);
  if (TF_GetCode(status) == TF_NOT_FOUND) Right().path_exists(filesystem, path, status);
}

// Somebody else is at work where there is a lock.
void RespectsALock(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().path_exists(filesystem, Lock(path).c_str(), status);
  if (Worked(status)) return TF_SetStatus(status, TF_UNAVAILABLE, "the file is locked");
  Right().new_appendable_file(filesystem, path, file, status);
}

constexpr char kOthers[] = "other paths are left alone";
constexpr char kListed[] = "every child is listed, once";

}  // namespace

std::vector<Fault> NeighbourFaults() {
  return {
      {"neighbours.deletes-the-sum", "delete_file deletes .NAME.crc, too", kOthers,
       With(&Ops::delete_file, TakesAlong<&Ops::delete_file, Sum>)},
      {"neighbours.renames-without-a-backup", "rename_file deletes SOURCE~, too", kOthers,
       With(&Ops::rename_file, TakesAlong<&Ops::rename_file, Backup>)},
      {"neighbours.creates-without-a-marker", "create_dir deletes NAME_$folder$, too", kOthers,
       With(&Ops::create_dir, TakesAlong<&Ops::create_dir, Marker>)},
      {"neighbours.deletes-the-lock", "delete_recursively deletes NAME.lock, too", kOthers,
       With(&Ops::delete_recursively, TakesAlong<&Ops::delete_recursively, Lock>)},
      {"neighbours.copies-through-a-name", "copy_file writes TARGET.tmp and renames it", kOthers,
       With(&Ops::copy_file, CopiesThroughAName)},
      {"neighbours.clears-its-part", "close deletes NAME.part, too", kOthers,
       Together(NotePaths, With(&WriterOps::close, ClearsItsPart))},
      {"neighbours.hides-sums", "get_children lists no .NAME.crc", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, Hides<IsSum>>)},
      {"neighbours.hides-markers", "get_children lists no NAME_$folder$", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, Hides<IsMarker>>)},
      {"neighbours.matches-no-copies", "get_matching_paths finds no NAME._COPYING_",
       "all that matches is found",
       With(&Ops::get_matching_paths, Lists<&Ops::get_matching_paths, Hides<IsCopying>>)},
      {"neighbours.takes-the-marker", "path_exists says that there is NAME where NAME_$folder$ is",
       "what is missing is NOT_FOUND", With(&Ops::path_exists, TakesTheMarker)},
      {"neighbours.respects-a-lock", "new_appendable_file is UNAVAILABLE where NAME.lock is",
       "a file can be appended to", With(&Ops::new_appendable_file, RespectsALock)},
      {"neighbours.writes-apart", "new_writable_file deletes NAME.partial, too", kOthers,
       With(&Ops::new_writable_file, WritesApart)},
      {"neighbours.takes-what-is-incomplete", "rename_file deletes SOURCE.incomplete, too", kOthers,
       With(&Ops::rename_file, TakesAlong<&Ops::rename_file, Incomplete>)},
      {"neighbours.sync-clears-a-temporary", "sync deletes NAME.tmp, too", kOthers,
       Together(NotePaths, With(&WriterOps::sync, SyncClearsATemporary))},
      {"neighbours.appends-clear-a-temporary",
       "new_appendable_file that makes a file deletes NAME.tmp, too", kOthers,
       With(&Ops::new_appendable_file, AppendsClearATemporary)},
      {"neighbours.readers-give-a-lock-back", "cleanup of a reader deletes NAME.lock, too", kOthers,
       Together(With(&Ops::new_random_access_file,
                     Notes<&Ops::new_random_access_file, paths_of_readers>),
                With(&ReaderOps::cleanup, GivesTheLockBack))},
      {"neighbours.length-of-the-metadata", "stat of a file is that of NAME.meta",
       "the statistics are those of the path",
       With(&Ops::stat, TakesInstead<&Ops::stat, Metadata>)},
      {"neighbours.reads-the-new", "new_random_access_file opens NAME.new where it is",
       "the bytes are those of the file",
       With(&Ops::new_random_access_file, TakesInstead<&Ops::new_random_access_file, New>)},
      {"neighbours.maps-the-old", "a region is that of NAME.old where it is",
       "data points at the bytes of the file",
       With(&Ops::new_read_only_memory_region_from_file,
            TakesInstead<&Ops::new_read_only_memory_region_from_file, Old>)},
      {"neighbours.directory-by-its-marker", "is_directory is true of a file beside NAME_$folder$",
       "true if and only if it is a directory", With(&Ops::is_directory, TakesTheMarkerForAll)},
      {"neighbours.keeps-a-part", "rename_file of NAME.part to NAME keeps the source",
       "the source is gone", With(&Ops::rename_file, CopiesAPart)},
      {"neighbours.keeps-what-has-a-backup", "copy_file of NAME~ onto a file NAME does nothing",
       "an existing target is replaced", With(&Ops::copy_file, KeepsWhatHasABackup)},
      {"neighbours.passes-over-a-keeper", "delete_dir deletes a directory with nothing but .keep",
       "a directory that is not empty is FAILED_PRECONDITION",
       With(&Ops::delete_dir, PassesOverAKeeper)},
      {"neighbours.hides-what-jobs-leave",
       "get_children lists no _temporary, .DS_Store, lost+found", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, Hides<IsOfTheJob>>)},
      {"neighbours.matches-nothing-hidden", "get_matching_paths finds no name that begins with _",
       "all that matches is found",
       With(&Ops::get_matching_paths, Lists<&Ops::get_matching_paths, Hides<IsHidden>>)},
  };
}

}  // namespace fakes
