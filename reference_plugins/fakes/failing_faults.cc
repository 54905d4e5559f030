// Faults that show only where a system call fails: each op does here what a careless one would.

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "faults.h"
#include "support/memory.h"
#include "support/paths.h"
#include "support/status.h"

namespace fakes {
namespace {

// A file to write that keeps what it was told in a descriptor, as posix does, and looks at none of
// the answers that its flags say.
struct CarelessFile {
  std::string path;
  int descriptor;
  std::string held = {};  // what was appended, and is not written yet
};

CarelessFile* Get(Writer file) { return static_cast<CarelessFile*>(file->plugin_file); }

// Makes a call again that a signal interrupts.
template <typename Call>
int Again(Call call) {
  int result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

void Take(int descriptor, Path path, TF_WritableFile* file, Status status) {
  if (descriptor < 0) return support::SetErrno(status, errno, path);
  file->plugin_file = new CarelessFile{path, descriptor};
  support::SetOk(status);
}

void OpenCarelessly(Filesystem, Path path, TF_WritableFile* file, Status status) {
  constexpr int kFlags = O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC;
  Take(Again([=] { return open(path, kFlags, 0666); }), path, file, status);
}

void CreateCarelessly(Filesystem, Path path, TF_WritableFile* file, Status status) {
  Take(Again([=] { return creat(path, 0666); }), path, file, status);
}

void OpenCopy(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  OpenCarelessly(filesystem, path, file, status);
  if (file->plugin_file == nullptr) return;
  const int first = Get(file)->descriptor;
  Get(file)->descriptor = dup(first);
  close(first);
  if (Get(file)->descriptor >= 0) return;
  support::SetErrno(status, EMFILE, path);
  delete Get(file);
  file->plugin_file = nullptr;
}

void CleanUpCarelessly(TF_WritableFile* file) {
  if (Get(file)->descriptor >= 0) close(Get(file)->descriptor);
  delete Get(file);
  file->plugin_file = nullptr;
}

int WriteAll(const CarelessFile& file, const char* buffer, size_t n) {
  for (size_t done = 0; done < n;) {
    const ssize_t taken = write(file.descriptor, buffer + done, n - done);
    if (taken < 0 && errno != EINTR) return errno;
    if (taken > 0) done += static_cast<size_t>(taken);
  }
  return 0;
}

void AppendRightly(Writer file, const char* buffer, size_t n, Status status) {
  support::SetErrno(status, WriteAll(*Get(file), buffer, n), Get(file)->path.c_str());
}

void AppendIgnoring(Writer file, const char* buffer, size_t n, Status status) {
  WriteAll(*Get(file), buffer, n);
  support::SetOk(status);
}

void AppendOnce(Writer file, const char* buffer, size_t n, Status status) {
  const ssize_t taken = write(Get(file)->descriptor, buffer, n);
  support::SetErrno(status, taken < 0 ? errno : 0, Get(file)->path.c_str());
}

void AppendOrCrash(Writer file, const char* buffer, size_t n, Status status) {
  if (WriteAll(*Get(file), buffer, n) != 0) std::abort();
  support::SetOk(status);
}

// Syncs each file once, behind its first piece.
void AppendAndSyncOnce(Writer file, const char* buffer, size_t n, Status status) {
  const bool is_first = lseek(Get(file)->descriptor, 0, SEEK_CUR) == 0;
  int error = WriteAll(*Get(file), buffer, n);
  while (error == 0 && is_first && fsync(Get(file)->descriptor) != 0)
    if (errno != EINTR) error = errno;
  support::SetErrno(status, error, Get(file)->path.c_str());
}

// The file whose append failed last.
std::string& Spoilt() {
  static std::string path;
  return path;
}

void AppendOrSpoil(Writer file, const char* buffer, size_t n, Status status) {
  const int error = Spoilt() == Get(file)->path ? EIO : WriteAll(*Get(file), buffer, n);
  if (error != 0) Spoilt() = Get(file)->path;
  support::SetErrno(status, error, Get(file)->path.c_str());
}

// Writes what is held.
int Spill(Writer file) {
  const int error = WriteAll(*Get(file), Get(file)->held.data(), Get(file)->held.size());
  Get(file)->held.clear();
  return error;
}

// A buffer that is written when it is full: what came of that nobody looks at.
void AppendHolding(Writer file, const char* buffer, size_t n, Status status) {
  constexpr size_t kFull = 4096;
  for (size_t done = 0; done < n;) {
    const size_t taken = std::min(n - done, kFull - Get(file)->held.size());
    Get(file)->held.append(buffer + done, taken);
    done += taken;
    if (Get(file)->held.size() == kFull) Spill(file);
  }
  support::SetOk(status);
}

bool stuck = false;

void AppendUnlessStuck(Writer file, const char* buffer, size_t n, Status status) {
  const int error = stuck ? EIO : WriteAll(*Get(file), buffer, n);
  stuck = error != 0;
  support::SetErrno(status, error, Get(file)->path.c_str());
}

int64_t Tell(Writer file, Status status) {
  support::SetOk(status);
  return lseek(Get(file)->descriptor, 0, SEEK_CUR) + static_cast<int64_t>(Get(file)->held.size());
}

void Flush(Writer, Status status) { support::SetOk(status); }

int Fsync(Writer file) {
  while (fsync(Get(file)->descriptor) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

void SyncRightly(Writer file, Status status) {
  support::SetErrno(status, Fsync(file), Get(file)->path.c_str());
}

void SyncIgnoring(Writer file, Status status) {
  Fsync(file);
  support::SetOk(status);
}

// The kernel has forgotten by now what it could not write.
void SyncUntilOk(Writer file, Status status) {
  for (int tries = 0; tries < 3 && fsync(Get(file)->descriptor) != 0;) ++tries;
  support::SetOk(status);
}

void SyncMapping(Writer file, Status status) {
  const auto size = static_cast<size_t>(lseek(Get(file)->descriptor, 0, SEEK_CUR));
  const int descriptor = open(Get(file)->path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return support::SetErrno(status, errno, Get(file)->path.c_str());
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const int error = mapping == MAP_FAILED ? errno : 0;
  close(descriptor);
  if (error == 0) msync(mapping, size, MS_SYNC);
  if (error == 0) munmap(mapping, size);
  support::SetErrno(status, error, Get(file)->path.c_str());
}

int CloseDescriptor(Writer file) {
  const int descriptor = Get(file)->descriptor;
  Get(file)->descriptor = -1;
  return close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

void FlushHeld(Writer file, Status status) {
  support::SetErrno(status, Spill(file), Get(file)->path.c_str());
}

void SyncHeld(Writer file, Status status) {
  const int error = Spill(file);
  support::SetErrno(status, error != 0 ? error : Fsync(file), Get(file)->path.c_str());
}

void CloseHeld(Writer file, Status status) {
  const int error = Spill(file), closed = CloseDescriptor(file);
  support::SetErrno(status, error != 0 ? error : closed, Get(file)->path.c_str());
}

void CloseRightly(Writer file, Status status) {
  support::SetErrno(status, CloseDescriptor(file), Get(file)->path.c_str());
}

// Forgets its descriptor only where close(2) succeeds, so that the clean-up closes it again.
void CloseOrKeep(Writer file, Status status) {
  const int error = close(Get(file)->descriptor) == 0 ? 0 : errno;
  if (error == 0) Get(file)->descriptor = -1;
  support::SetErrno(status, error, Get(file)->path.c_str());
}

void CloseIgnoring(Writer file, Status status) {
  CloseDescriptor(file);
  support::SetOk(status);
}

// Files with ops of their own, of which a fault replaces one.
void WithFiles(support::Tables& t) {
  t.filesystem.new_writable_file = OpenCarelessly;
  t.filesystem.new_appendable_file = nullptr;
  t.writable_file.cleanup = CleanUpCarelessly;
  t.writable_file.append = AppendRightly;
  t.writable_file.tell = Tell;
  t.writable_file.flush = Flush;
  t.writable_file.sync = SyncRightly;
  t.writable_file.close = CloseRightly;
}

// Such files, with one op in place of the right one.
template <typename Function>
auto Files(Function WriterOps::* entry, std::common_type_t<Function> function) {
  return Together(WithFiles, With(entry, function));
}

void AppendAllInternal(Writer file, const char* buffer, size_t n, Status status) {
  if (WriteAll(*Get(file), buffer, n) == 0) return support::SetOk(status);
  TF_SetStatus(status, TF_INTERNAL, "it went wrong");
}

// The target goes first, so that its place is free.
void RenameAfterRemoving(Filesystem, Path source, Path target, Status status) {
  struct stat facts;
  if (stat(source, &facts) != 0) return support::SetErrno(status, errno, source);
  unlink(target);
  support::SetErrno(status, rename(source, target) == 0 ? 0 : errno, target);
}

// What it may have left behind goes, and what others keep there goes with it.
void RenameAndTidy(Filesystem, Path source, Path target, Status status) {
  if (rename(source, target) == 0) return support::SetOk(status);
  support::SetErrno(status, errno, target);
  const std::string folder = std::string(target).substr(0, std::string(target).rfind('/'));
  DIR* listing = opendir(folder.c_str());
  while (const dirent* entry = listing == nullptr ? nullptr : readdir(listing)) {
    const std::string path = folder + "/" + entry->d_name;
    if (path != source && path != target) unlink(path.c_str());
  }
  if (listing != nullptr) closedir(listing);
}

// Where the source cannot be opened any more, the copy ends.
void CopyShort(Filesystem, Path source, Path target, Status status) {
  const int from = open(source, O_RDONLY | O_CLOEXEC);
  if (from < 0) return support::SetErrno(status, errno, source);
  const int to = open(target, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (to < 0) {
    support::SetErrno(status, errno, target);
    close(from);
    return;
  }
  char buffer[4096];
  for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;)
    if (write(to, buffer, static_cast<size_t>(got)) != got) break;
  close(from);
  close(to);
  support::SetOk(status);
}

// What is small is copied rightly; what takes several pieces is not.
void CopyLargeShort(Filesystem filesystem, Path source, Path target, Status status) {
  struct stat facts;
  const bool is_large = stat(source, &facts) == 0 && facts.st_size > 4096;
  (is_large ? CopyShort : Right().copy_file)(filesystem, source, target, status);
}

// Within one directory it is right. To another one it copies, takes a copy that broke off for a
// whole one, and removes the source.
void RenameElsewhereShort(Filesystem filesystem, Path source, Path target, Status status) {
  if (support::ParentOf(source) == support::ParentOf(target))
    return Right().rename_file(filesystem, source, target, status);
  CopyShort(filesystem, source, target, status);
  if (Worked(status)) unlink(source);
}

// What a descriptor stands for in a reader; NULL is none.
void* Boxed(int descriptor) { return reinterpret_cast<void*>(intptr_t{descriptor} + 1); }

int DescriptorOf(Reader file) {
  return static_cast<int>(reinterpret_cast<intptr_t>(file->plugin_file)) - 1;
}

int64_t ReadOnce(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const ssize_t got = pread(DescriptorOf(file), buffer, n, static_cast<off_t>(offset));
  if (got < 0) {
    support::SetErrno(status, errno, "file");
    return -1;
  }
  TF_SetStatus(status, static_cast<size_t>(got) < n ? TF_OUT_OF_RANGE : TF_OK, "");
  return got;
}

// What cannot be read is taken for the end of the file.
int64_t ReadEnd(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = ReadOnce(file, offset, n, buffer, status);
  if (got < 0) TF_SetStatus(status, n > 0 ? TF_OUT_OF_RANGE : TF_OK, "");
  return std::max<int64_t>(got, 0);
}

void OpenReader(Filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return support::SetErrno(status, errno, path);
  file->plugin_file = Boxed(descriptor);
  support::SetOk(status);
}

// Looks at what it opened, and forgets it where that fails.
void OpenAndLook(Filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  const int descriptor = Again([=] { return open(path, O_RDONLY | O_CLOEXEC); });
  struct stat facts;
  if (descriptor < 0 || fstat(descriptor, &facts) != 0)
    return support::SetErrno(status, errno, path);
  file->plugin_file = Boxed(descriptor);
  support::SetOk(status);
}

int64_t ReadAgain(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  int64_t got;
  do {
    got = ReadOnce(file, offset, n, buffer, status);
  } while (TF_GetCode(status) == TF_UNAVAILABLE);
  return got;
}

void CloseReader(TF_RandomAccessFile* file) {
  close(DescriptorOf(file));
  file->plugin_file = nullptr;
}

// What cannot be removed is left, and nobody is told.
void DeleteSome(const std::string& path) {
  DIR* listing = opendir(path.c_str());
  while (const dirent* entry = listing == nullptr ? nullptr : readdir(listing)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entry->d_type == DT_DIR) {
      DeleteSome(path + "/" + name);
    } else {
      unlink((path + "/" + name).c_str());
    }
  }
  if (listing != nullptr) closedir(listing);
  rmdir(path.c_str());
}

void DeleteTreeIgnoring(Filesystem, Path path, uint64_t* files, uint64_t* directories,
                        Status status) {
  *files = *directories = 0;
  DeleteSome(path);
  support::SetOk(status);
}

// A listing that breaks off is taken for its end.
int ListSome(Filesystem, Path path, char*** entries, Status status) {
  DIR* listing = opendir(path);
  if (listing == nullptr) {
    support::SetErrno(status, errno, path);
    return -1;
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(listing);
  const int count = support::CopyNames(names, entries);
  support::SetOk(status);
  return count;
}

// Whatever keeps it from looking, nothing is there.
void MissWhatFails(Filesystem, Path path, Status status) {
  struct stat facts;
  if (stat(path, &facts) == 0) return support::SetOk(status);
  support::SetError(status, TF_NOT_FOUND, path, "not there");
}

bool MissAllThatFail(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  const bool all = Right().paths_exist(filesystem, paths, count, statuses);
  for (int k = 0; statuses != nullptr && k < count; ++k)
    if (TF_GetCode(statuses[k]) != TF_OK) TF_SetStatus(statuses[k], TF_NOT_FOUND, "not there");
  return all;
}

// Remembers what it found of a path, a failure included.
void LookOnce(Filesystem, Path path, Status status) {
  static std::map<std::string, int> found;
  struct stat facts;
  if (found.count(path) == 0) found[path] = stat(path, &facts) == 0 ? 0 : errno;
  support::SetErrno(status, found[path], path);
}

// Makes what is missing, and does not look at what came of it.
void CreateIgnoring(Filesystem, Path path, Status status) {
  struct stat facts;
  if (stat(path, &facts) == 0) return support::SetErrno(status, EEXIST, path);
  if (mkdir(path, 0777) != 0 && (errno == ENOENT || errno == ENOTDIR))
    return support::SetErrno(status, errno, path);
  support::SetOk(status);
}

}  // namespace

std::vector<Fault> FailingFaults() {
  const char* told = "an op of which a call failed answers an error";
  return {
      {"failing.write-is-ok", "append answers OK though write(2) failed", told,
       Files(&WriterOps::append, AppendIgnoring)},
      {"failing.spill-is-ok",
       "append answers OK though its buffer could not be written when it was full", told,
       Together(WithFiles, With(&WriterOps::append, AppendHolding),
                With(&WriterOps::flush, FlushHeld), With(&WriterOps::sync, SyncHeld),
                With(&WriterOps::close, CloseHeld))},
      {"failing.close-is-ok", "close answers OK though close(2) failed", told,
       Files(&WriterOps::close, CloseIgnoring)},
      {"failing.sync-is-ok", "sync answers OK though fsync(2) failed", told,
       Files(&WriterOps::sync, SyncIgnoring)},
      {"failing.append-crashes", "append ends the process where write(2) fails",
       "an op comes back where a call failed", Files(&WriterOps::append, AppendOrCrash)},
      {"failing.append-stays-broken", "append fails for ever after write(2) failed once",
       "an op works again when what failed works", Files(&WriterOps::append, AppendUnlessStuck)},
      {"failing.append-is-internal", "append answers INTERNAL whatever failed",
       "the code is that of the error", Files(&WriterOps::append, AppendAllInternal)},
      {"failing.write-interrupted", "append fails where a signal interrupts write(2)",
       "a call that was interrupted is made again", Files(&WriterOps::append, AppendOnce)},
      {"failing.read-interrupted", "read and its open fail where a signal interrupts them",
       "a call that was interrupted is made again", WithReaders(OpenReader, ReadOnce, CloseReader)},
      {"failing.read-ends", "read takes a failure for the end of the file", told,
       WithReaders(OpenReader, ReadEnd, CloseReader)},
      {"failing.rename-removes-first", "rename_file removes the target before it renames",
       "the target is the old or the new file", With(&Ops::rename_file, RenameAfterRemoving)},
      {"failing.copy-is-short", "copy_file answers OK though the copy broke off", told,
       With(&Ops::copy_file, CopyShort)},
      {"failing.copy-of-much-is-short",
       "copy_file of more than 4096 bytes answers OK though the copy broke off", told,
       With(&Ops::copy_file, CopyLargeShort)},
      {"failing.rename-elsewhere-is-short",
       "rename_file to another directory copies, and answers OK though the copy broke off", told,
       With(&Ops::rename_file, RenameElsewhereShort)},
      {"failing.delete-leaves-some", "delete_recursively answers OK whatever is left", told,
       With(&Ops::delete_recursively, DeleteTreeIgnoring)},
      {"failing.listing-ends", "get_children takes a failure for the end of the directory", told,
       With(&Ops::get_children, ListSome)},
      {"failing.lookup-misses", "path_exists answers NOT_FOUND whatever stat(2) failed with",
       "the code is that of the error", With(&Ops::path_exists, MissWhatFails)},
      {"failing.lookup-misses-all", "paths_exist answers NOT_FOUND whatever stat(2) failed with",
       "the code is that of the error", With(&Ops::paths_exist, MissAllThatFail)},
      {"failing.sync-tries-again", "sync calls fsync(2) until it succeeds", told,
       Files(&WriterOps::sync, SyncUntilOk)},
      {"failing.mapping-is-ok", "sync answers OK though msync(2) failed", told,
       Files(&WriterOps::sync, SyncMapping)},
      {"failing.synced-too-early",
       "close answers OK though close(2) failed, after an early fsync(2)", told,
       Together(WithFiles, With(&WriterOps::append, AppendAndSyncOnce),
                With(&WriterOps::close, CloseIgnoring))},
      {"failing.created-close-is-ok", "close answers OK though close(2) of a creat(2) failed", told,
       Together(WithFiles, With(&Ops::new_writable_file, CreateCarelessly),
                With(&WriterOps::close, CloseIgnoring))},
      {"failing.copied-close-is-ok", "close answers OK though close(2) of a dup(2) failed", told,
       Together(WithFiles, With(&Ops::new_writable_file, OpenCopy),
                With(&WriterOps::close, CloseIgnoring))},
      {"failing.append-spoils-its-file", "append fails for ever on a file of which it failed once",
       "an op works again when what failed works", Files(&WriterOps::append, AppendOrSpoil)},
      {"failing.lookup-is-remembered", "path_exists answers from then on what it failed with",
       "an op works again when what failed works", With(&Ops::path_exists, LookOnce)},
      {"failing.rename-tidies-up", "rename_file that fails removes the files beside it",
       "what an op is not to change is as it was", With(&Ops::rename_file, RenameAndTidy)},
      {"failing.closes-again", "the clean-up closes what close(2) failed to close",
       "what was opened is closed once", Files(&WriterOps::close, CloseOrKeep)},
      {"failing.open-leaks",
       "new_random_access_file leaves its descriptor open when fstat(2) fails",
       "what was opened is closed once", WithReaders(OpenAndLook, ReadAgain, CloseReader)},
      {"failing.create-is-ok", "create_dir answers OK though mkdir(2) failed", told,
       With(&Ops::create_dir, CreateIgnoring)},
  };
}

}  // namespace fakes
