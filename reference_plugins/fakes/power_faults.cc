// Faults that show only where the power is lost: what is durable by then is not what was promised.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "faults.h"
#include "kernel.h"
#include "posix/durable.h"
#include "support/descriptor.h"
#include "support/paths.h"
#include "support/status.h"

namespace fakes {
namespace {

// Gives 0 or an errno value, as what follows does.
int Persist(int descriptor) { return fsync(descriptor) == 0 ? 0 : errno; }

int PersistDirectory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = Persist(descriptor);
  close(descriptor);
  return error;
}

// A file to write. What is appended reaches the kernel at once, unless it is held until sync and
// close.

struct PowerFile {
  std::string path;
  int descriptor;
  std::string held;
  int syncs;
};

bool holds = false;
int (*brings_to_disk)(PowerFile*) = nullptr;  // what sync does
int latest = -1;                              // the descriptor that was opened last

PowerFile* Self(Writer file) { return static_cast<PowerFile*>(file->plugin_file); }

int Bring(PowerFile* file) {
  const int error = Put(file->descriptor, file->held);
  file->held.clear();
  return error;
}

int PersistBoth(PowerFile* file) {
  const int error = Persist(file->descriptor);
  return error == 0 ? PersistDirectory(support::ParentOf(file->path)) : error;
}

void Open(Path path, int flags, TF_WritableFile* file, Status status) {
  const int descriptor = open(path, flags | O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return support::SetErrno(status, errno, path);
  file->plugin_file = new PowerFile{path, descriptor, "", 0};
  latest = descriptor;
  support::SetOk(status);
}

template <int flags>
void OpenWith(Filesystem, Path path, TF_WritableFile* file, Status status) {
  Open(path, flags, file, status);
}

// The file was open with O_DSYNC before, and is not any more.
template <int flags>
void OpenAgain(Filesystem, Path path, TF_WritableFile* file, Status status) {
  support::Descriptor::Open(path, O_CREAT | O_WRONLY | O_DSYNC);
  Open(path, flags, file, status);
}

void Append(Writer file, const char* buffer, size_t n, Status status) {
  Self(file)->held.append(buffer, n);
  support::SetErrno(status, holds ? 0 : Bring(Self(file)), "file");
}

int64_t Tell(Writer file, Status status) {
  support::SetOk(status);
  return lseek(Self(file)->descriptor, 0, SEEK_END) + static_cast<int64_t>(Self(file)->held.size());
}

void Flush(Writer file, Status status) { support::SetErrno(status, Bring(Self(file)), "file"); }

void Sync(Writer file, Status status) {
  PowerFile* self = Self(file);
  support::SetErrno(status, brings_to_disk(self), "file");
  ++self->syncs;
}

void Close(Writer file, Status status) {
  PowerFile* self = Self(file);
  int error = Bring(self);
  if (close(self->descriptor) != 0) error = errno;
  self->descriptor = -1;
  support::SetErrno(status, error, "file");
}

void Cleanup(TF_WritableFile* file) {
  PowerFile* self = Self(file);
  if (self->descriptor >= 0) close(self->descriptor);
  delete self;
  file->plugin_file = nullptr;
}

// Makes a directory, and its own entries durable instead of the one above it.
void CreateDirThatIsDurable(Filesystem, Path path, Status status) {
  support::SetErrno(status, mkdir(path, 0777) == 0 ? PersistDirectory(path) : errno, path);
}

// Makes directories, of which the last one's name is durable.
void CreateDirsOfWhichOneIsDurable(Filesystem filesystem, Path path, Status status) {
  Right().recursively_create_dir(filesystem, path, status);
  if (Worked(status)) support::SetErrno(status, PersistDirectory(support::ParentOf(path)), path);
}

auto Files(int (*what_sync_does)(PowerFile*)) {
  return [=](support::Tables& t) {
    brings_to_disk = what_sync_does;
    t.writable_file = {Cleanup, Append, Tell, Flush, Sync, Close};
    t.filesystem.new_writable_file = OpenWith<O_TRUNC>;
    t.filesystem.new_appendable_file = OpenWith<O_APPEND>;
  };
}

// What is appended waits for another op.
void LetWait(support::Tables&) { holds = true; }

// Files that are appended to are copied to another name, which sync changes.

std::string CopyOf(const std::string& path) { return path + ".copy"; }

void OpenCopy(Filesystem, Path path, TF_WritableFile* file, Status status) {
  std::string old;
  const int error = Get(path, &old);
  if (error != 0 && error != ENOENT) return support::SetErrno(status, error, path);
  Open(CopyOf(path).c_str(), O_TRUNC, file, status);
  if (!Worked(status)) return;
  Self(file)->path = path;
  support::SetErrno(status, Put(Self(file)->descriptor, old), path);
}

int RenameThenPersist(PowerFile* file) {
  // A file that is new has its name.
  if (rename(CopyOf(file->path).c_str(), file->path.c_str()) != 0 && errno != ENOENT) return errno;
  return PersistBoth(file);
}

void CloseCopy(Writer file, Status status) {
  rename(CopyOf(Self(file)->path).c_str(), Self(file)->path.c_str());
  Close(file, status);
}

// All of the file is written anew, so that what is appended comes behind it.
void OpenAnew(Filesystem, Path path, TF_WritableFile* file, Status status) {
  std::string old;
  Get(path, &old);
  Open(path, O_TRUNC, file, status);
  if (Worked(status)) support::SetErrno(status, Put(Self(file)->descriptor, old), path);
}

void RenameByCopy(Filesystem, Path source, Path target, Status status) {
  std::string content;
  int error = Get(source, &content);
  if (error == 0) error = PutInPlace(CopyOf(target), content);
  if (error == 0 && rename(CopyOf(target).c_str(), target) != 0) error = errno;
  if (error == 0 && unlink(source) != 0) error = errno;
  support::SetErrno(status, error, source);
}

void RenameElsewhereByCopy(Filesystem filesystem, Path source, Path target, Status status) {
  if (support::ParentOf(source) == support::ParentOf(target))
    return Right().rename_file(filesystem, source, target, status);
  RenameByCopy(filesystem, source, target, status);
}

void RemoveThenRename(Filesystem, Path source, Path target, Status status) {
  unlink(target);
  support::SetErrno(status, rename(source, target) == 0 ? 0 : errno, source);
}

// The file beside is written anew at each sync, as one that has an index would do.
int WriteBeside(PowerFile* file) {
  const std::string beside = support::ParentOf(file->path) + "/beside";
  std::string content;
  int error = Get(beside, &content);
  if (error == 0) error = PutInPlace(beside, content);
  return error == 0 || error == ENOENT ? PersistBoth(file) : error;
}

}  // namespace

std::vector<Fault> PowerFaults() {
  const char* synced = "what sync answered OK for survives a loss of power";
  const char* named = "what sync answered OK for has its name after a loss of power";
  const char* there = "what was durable survives a loss of power";
  const char* whole = "the target is the old or the new file, whole";
  return {
      {"power.sync-does-nothing", "sync answers OK, and does nothing more", synced,
       Files([](PowerFile*) { return 0; })},
      {"power.sync-is-flush", "sync brings what was held to the kernel, and not to the disk",
       synced, Together(Files(Bring), LetWait)},
      {"power.sync-starts-writing", "sync has the kernel begin to write, by sync_file_range(2)",
       synced, Files([](PowerFile* file) {
         return sync_file_range(file->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE) == 0 ? 0 : errno;
       })},
      {"power.syncs-too-early", "sync calls fsync(2) before it writes what was held", synced,
       Together(Files([](PowerFile* file) {
                  const int error = PersistBoth(file);
                  return error == 0 ? Bring(file) : error;
                }),
                LetWait)},
      {"power.syncs-once", "of a file only the first sync calls fsync(2)", synced,
       Files([](PowerFile* file) { return file->syncs == 0 ? PersistBoth(file) : 0; })},
      {"power.syncs-another-file", "sync calls fdatasync(2) on the file that was opened last",
       synced, Files([](PowerFile* file) {
         if (fdatasync(latest) != 0) return errno;
         return PersistDirectory(support::ParentOf(file->path));
       })},
      {"power.syncs-the-directory-only",
       "sync calls fsync(2) on the directory, and not on the file", synced,
       Files([](PowerFile* file) { return PersistDirectory(support::ParentOf(file->path)); })},
      {"power.one-open-writes-through",
       "the open of a file that has O_DSYNC is not the one that is written through", synced,
       Together(Files([](PowerFile* file) {
                  return posix::PersistName(support::Descriptor(-1), file->path);
                }),
                With(&Ops::new_writable_file, OpenAgain<O_TRUNC>),
                With(&Ops::new_appendable_file, OpenAgain<O_APPEND>))},
      {"power.syncs-no-directory", "sync calls fsync(2) on the file, and not on its directory",
       named, Files([](PowerFile* file) { return Persist(file->descriptor); })},
      {"power.syncs-the-directory-above", "sync calls fsync(2) on the directory of the directory",
       named, Files([](PowerFile* file) {
         const int error = Persist(file->descriptor);
         if (error != 0) return error;
         return PersistDirectory(support::ParentOf(support::ParentOf(file->path)));
       })},
      {"power.syncs-no-directory-above",
       "sync calls fsync(2) on the file and its directory, and on none above it", named,
       Files(PersistBoth)},
      {"power.creates-for-itself",
       "create_dir calls fsync(2) on the new directory, and sync on none above that", named,
       Together(Files(PersistBoth), With(&Ops::create_dir, CreateDirThatIsDurable))},
      {"power.creates-the-last",
       "recursively_create_dir calls fsync(2) above the last directory only, and sync on none "
       "there",
       named,
       Together(Files(PersistBoth),
                With(&Ops::recursively_create_dir, CreateDirsOfWhichOneIsDurable))},
      {"power.renames-before-it-syncs", "sync gives a file its name, and calls fsync(2) then",
       there,
       Together(Files(RenameThenPersist), With(&WriterOps::close, CloseCopy),
                With(&Ops::new_appendable_file, OpenCopy))},
      {"power.append-writes-anew", "new_appendable_file writes the file anew", there,
       Together(Files(PersistBoth), With(&Ops::new_appendable_file, OpenAnew))},
      {"power.writes-beside", "sync writes another file anew, which is not synced", there,
       Files(WriteBeside)},
      {"power.rename-copies", "rename_file copies, and does not sync the copy", whole,
       With(&Ops::rename_file, RenameByCopy)},
      {"power.rename-elsewhere-copies",
       "rename_file to another directory copies, and does not sync the copy", whole,
       With(&Ops::rename_file, RenameElsewhereByCopy)},
      {"power.rename-removes-first", "rename_file removes the target before it renames", whole,
       With(&Ops::rename_file, RemoveThenRename)},
  };
}

}  // namespace fakes
