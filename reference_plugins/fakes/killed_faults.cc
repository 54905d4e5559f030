// Faults that show only where the process is killed: what is left by then is not what was promised.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "support/paths.h"
#include "support/status.h"

namespace fakes {
namespace {

// A file to write that keeps what is appended, and brings it to the kernel in some of its ops.

struct HeldFile {
  std::string path;
  int descriptor;
  std::string held;
  std::promise<void> woken;
  std::thread writer;
};

enum { kAppend = 1, kFlush = 2, kSync = 4, kClose = 8, kCleanup = 16, kThread = 32 };
int writes = 0;           // the ops that do
int opening = O_TRUNC;    // how a file is opened
bool is_cut = false;      // whether close ends a file where its bytes end
bool makes_room = false;  // whether a file gets its length before its bytes

HeldFile* Held(Writer file) { return static_cast<HeldFile*>(file->plugin_file); }

int Bring(HeldFile* file) {
  const off_t end = lseek(file->descriptor, 0, SEEK_CUR);
  const off_t room = end + static_cast<off_t>(file->held.size());
  if (makes_room && ftruncate(file->descriptor, room) != 0) return errno;
  const int error = Put(file->descriptor, file->held);
  file->held.clear();
  return error;
}

void Open(Filesystem, Path path, TF_WritableFile* file, Status status) {
  const int descriptor = open(path, O_CREAT | opening | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return support::SetErrno(status, errno, path);
  file->plugin_file = new HeldFile{path, descriptor, "", {}, {}};
  support::SetOk(status);
}

void Append(Writer file, const char* buffer, size_t n, Status status) {
  Held(file)->held.append(buffer, n);
  support::SetErrno(status, (writes & kAppend) != 0 ? Bring(Held(file)) : 0, "file");
}

int64_t Tell(Writer file, Status status) {
  support::SetOk(status);
  return lseek(Held(file)->descriptor, 0, SEEK_CUR) + static_cast<int64_t>(Held(file)->held.size());
}

template <int op>
void BringIn(Writer file, Status status) {
  support::SetErrno(status, (writes & op) != 0 ? Bring(Held(file)) : 0, "file");
}

void Close(Writer file, Status status) {
  HeldFile* self = Held(file);
  int error = (writes & kClose) != 0 ? Bring(self) : 0;
  if (is_cut && ftruncate(self->descriptor, lseek(self->descriptor, 0, SEEK_CUR)) != 0)
    error = errno;
  // The thread takes its time: nobody waits for it before the end.
  if ((writes & kThread) != 0) {
    self->writer = std::thread([self] {
      self->woken.get_future().wait();
      Bring(self);
    });
  }
  support::SetErrno(status, error, "file");
}

void Cleanup(TF_WritableFile* file) {
  HeldFile* self = Held(file);
  self->woken.set_value();
  if (self->writer.joinable()) self->writer.join();
  if ((writes & kCleanup) != 0) Bring(self);
  close(self->descriptor);
  delete self;
  file->plugin_file = nullptr;
}

auto Files(int by) {
  return [=](support::Tables& t) {
    writes = by;
    t.filesystem.new_writable_file = Open;
    t.writable_file = {Cleanup, Append, Tell, BringIn<kFlush>, BringIn<kSync>, Close};
    t.filesystem.new_appendable_file = nullptr;
  };
}

// All of the file is written anew, so that what is appended comes behind it.
void OpenAnew(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  std::string old;
  Get(path, &old);
  Right().new_writable_file(filesystem, path, file, status);
  if (Worked(status)) Writing().append(file, old.data(), old.size(), status);
}

// What is beside a file that is closed is written anew, too, as one who packs a directory would.
void ClosePacking(Writer file, Status status) {
  const std::string path = Held(file)->path, directory = support::ParentOf(path);
  Close(file, status);
  DIR* listing = opendir(directory.c_str());
  while (const dirent* entry = listing == nullptr ? nullptr : readdir(listing)) {
    const std::string other = directory + "/" + entry->d_name;
    std::string content;
    if (entry->d_type == DT_REG && other != path && Get(other, &content) == 0)
      PutInPlace(other, content);
  }
  if (listing != nullptr) closedir(listing);
}

// A lock beside the directory of a file, for as long as somebody writes there.

std::string LockOf(const std::string& path) {
  return support::ParentOf(support::ParentOf(path)) + "/.lock";
}

void OpenLocking(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const int lock = open(LockOf(path).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (lock < 0 && errno == EEXIST)
    return support::SetError(status, TF_ABORTED, path, "somebody else writes");
  if (lock >= 0) close(lock);
  Open(filesystem, path, file, status);
  if (!Worked(status)) unlink(LockOf(path).c_str());
}

void CloseUnlocking(Writer file, Status status) {
  Close(file, status);
  unlink(LockOf(Held(file)->path).c_str());
}

// A file is written under another name, which no listing shows, and gets its own at the end.

const char kHidden[] = ".written-";

std::string HiddenOf(const std::string& path) {
  return support::ParentOf(path) + "/" + kHidden + path.substr(path.rfind('/') + 1);
}

void OpenHidden(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Open(filesystem, HiddenOf(path).c_str(), file, status);
  if (Worked(status)) Held(file)->path = path;
}

void CloseShowing(Writer file, Status status) {
  Close(file, status);
  const std::string path = Held(file)->path;
  if (rename(HiddenOf(path).c_str(), path.c_str()) != 0)
    support::SetErrno(status, errno, path.c_str());
}

void LeavesOutHidden(Filesystem, const std::string&, Names& names) {
  LeaveOut(names, [](const std::string& name) { return name.rfind(kHidden, 0) == 0; });
}

// Gives 0 or an errno value.
int MoveByMemory(const std::string& source, const std::string& target) {
  std::string content;
  int error = Get(source, &content);
  if (error == 0 && unlink(source.c_str()) != 0) error = errno;
  return error == 0 ? PutInPlace(target, content) : error;
}

void RenameByMemory(Filesystem, Path source, Path target, Status status) {
  support::SetErrno(status, MoveByMemory(source, target), source);
}

// Within one directory it is right. In another one nobody looks at what came of the target.
void RenameElsewhereByMemory(Filesystem filesystem, Path source, Path target, Status status) {
  if (support::ParentOf(source) == support::ParentOf(target))
    return Right().rename_file(filesystem, source, target, status);
  std::string content;
  int error = Get(source, &content);
  if (error == 0 && unlink(source) != 0) error = errno;
  if (error == 0) PutInPlace(target, content);
  support::SetErrno(status, error, source);
}

// Gives 0 or an errno value.
int MoveTree(const std::string& source, const std::string& target) {
  DIR* listing = opendir(source.c_str());
  if (listing == nullptr) return errno == ENOTDIR ? MoveByMemory(source, target) : errno;
  int error = mkdir(target.c_str(), 0777) == 0 ? 0 : errno;
  while (const dirent* entry = error != 0 ? nullptr : readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") error = MoveTree(source + "/" + name, target + "/" + name);
  }
  closedir(listing);
  return error == 0 && rmdir(source.c_str()) != 0 ? errno : error;
}

// Directories are renamed, too: their files one after the other.
void RenameTrees(Filesystem filesystem, Path source, Path target, Status status) {
  if (!IsDirectory(source)) return Right().rename_file(filesystem, source, target, status);
  support::SetErrno(status, MoveTree(source, target), source);
}

void CopyInPlace(Filesystem, Path source, Path target, Status status) {
  std::string content;
  int error = Get(source, &content);
  if (error == 0) error = PutInPlace(target, content);
  support::SetErrno(status, error, source);
}

void RenameInPlace(Filesystem filesystem, Path source, Path target, Status status) {
  CopyInPlace(filesystem, source, target, status);
  if (Worked(status) && unlink(source) != 0) support::SetErrno(status, errno, source);
}

void EmptyThenDelete(Filesystem filesystem, Path path, Status status) {
  if (IsFile(path) && truncate(path, 0) != 0) return support::SetErrno(status, errno, path);
  Right().delete_file(filesystem, path, status);
}

// What is deleted goes when the process ends.
struct Deleted {
  std::vector<std::string> paths;
  ~Deleted() {
    for (const std::string& path : paths) unlink(path.c_str());
  }
};

void DeleteAtTheEnd(Filesystem, Path path, Status status) {
  static Deleted deleted;
  struct stat facts;
  if (stat(path, &facts) != 0) return support::SetErrno(status, errno, path);
  if (S_ISDIR(facts.st_mode)) return support::SetErrno(status, EISDIR, path);
  deleted.paths.push_back(path);
  support::SetOk(status);
}

}  // namespace

std::vector<Fault> KilledFaults() {
  const char* closed = "what close answered OK for survives the process";
  const char* there = "what was there survives a process that is killed";
  const char* either = "each file is as before an op or as after it";
  const char* again = "another process can go on";
  return {
      {"killed.close-is-lazy", "close leaves the bytes to cleanup", closed,
       Files(kFlush | kSync | kCleanup)},
      {"killed.close-has-a-thread", "close leaves the bytes to a thread, and does not wait for it",
       closed, Files(kFlush | kSync | kThread)},
      {"killed.sync-is-lazy", "sync leaves the bytes to close",
       "what sync answered OK for survives the process", Files(kClose)},
      {"killed.flush-is-lazy", "flush leaves the bytes to sync and close",
       "what flush answered OK for survives the process", Files(kSync | kClose)},
      {"killed.makes-room", "append makes a file longer before it has the bytes", either,
       [](support::Tables& t) {
         Files(kAppend)(t);
         makes_room = true;
       }},
      {"killed.writes-over", "what is written lies over what was there, which close cuts off",
       either,
       [](support::Tables& t) {
         Files(kAppend)(t);
         opening = 0;
         is_cut = true;
       }},
      {"killed.packs", "close writes the files beside a file anew", there,
       Together(Files(kAppend), With(&WriterOps::close, ClosePacking))},
      {"killed.append-writes-anew", "new_appendable_file writes the file anew", there,
       With(&Ops::new_appendable_file, OpenAnew)},
      {"killed.lock-stays", "who writes locks the others out by a file that close removes", again,
       Together(Files(kAppend), With(&Ops::new_writable_file, OpenLocking),
                With(&WriterOps::close, CloseUnlocking))},
      {"killed.hidden-stays", "a file that is being written has a name that no listing shows",
       again,
       Together(Files(kAppend), With(&Ops::new_writable_file, OpenHidden),
                With(&WriterOps::close, CloseShowing),
                With(&Ops::get_children, Lists<&Ops::get_children, LeavesOutHidden>))},
      {"killed.rename-in-place", "rename_file writes the target in place",
       "the target is the old or the new file", With(&Ops::rename_file, RenameInPlace)},
      {"killed.rename-by-memory", "rename_file removes the source before it writes the target",
       there, With(&Ops::rename_file, RenameByMemory)},
      {"killed.rename-elsewhere-by-memory",
       "rename_file to another directory removes the source before it writes the target", there,
       With(&Ops::rename_file, RenameElsewhereByMemory)},
      {"killed.rename-moves-trees", "rename_file moves the files of a directory one by one", there,
       With(&Ops::rename_file, RenameTrees)},
      {"killed.copy-in-place", "copy_file writes the target in place", either,
       With(&Ops::copy_file, CopyInPlace)},
      {"killed.delete-empties", "delete_file empties a file before it removes it", either,
       With(&Ops::delete_file, EmptyThenDelete)},
      {"killed.delete-is-lazy", "delete_file leaves it to the end of the process",
       "what an op answered OK for is done", With(&Ops::delete_file, DeleteAtTheEnd)},
  };
}

}  // namespace fakes
