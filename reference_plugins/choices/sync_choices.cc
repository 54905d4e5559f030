// How sync makes durable what was appended: each way is right, and only a loss of power shows it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>

#include "choices.h"
#include "guard.h"
#include "support/descriptor.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::Descriptor;
using support::SetErrno;

// A file to write. It may lie aside, under another name, until it takes its place.
struct Synced {
  std::string path;
  std::string aside;  // where it lies now; empty once it is in its place
  Descriptor descriptor;
};

// What sync does, and how files are opened: set before the first op. Gives 0 or an errno value.
int (*persist)(const Synced*) = nullptr;
int flags = 0;
bool writes_aside = false;

Synced* Get(const TF_WritableFile* file) { return static_cast<Synced*>(file->plugin_file); }

int Put(const Descriptor& file, const char* data, size_t n) {
  while (n > 0) {
    const ssize_t taken = write(file.get(), data, n);
    if (taken < 0 && errno != EINTR) return errno;
    if (taken > 0) data += taken, n -= static_cast<size_t>(taken);
  }
  return 0;
}

int CopyTo(const Descriptor& to, const std::string& path) {
  const Descriptor from = Descriptor::Open(path.c_str(), O_RDONLY);
  if (!from.is_open()) return errno == ENOENT ? 0 : errno;
  char buffer[4096];
  ssize_t got;
  int error = 0;
  while (error == 0 && (got = read(from.get(), buffer, sizeof buffer)) != 0)
    error = got < 0 ? errno : Put(to, buffer, static_cast<size_t>(got));
  return error;
}

int PersistFile(const Synced* file) { return fsync(file->descriptor.get()) == 0 ? 0 : errno; }

int PersistDirectory(const Synced* file) {
  const Descriptor directory = Descriptor::Open(support::ParentOf(file->path).c_str(), O_RDONLY);
  return directory.is_open() && fsync(directory.get()) == 0 ? 0 : errno;
}

int PersistAll(const Synced* file) { return syncfs(file->descriptor.get()) == 0 ? 0 : errno; }

// What lies aside is durable before it takes the place of what is there.
int TakePlace(Synced* file) {
  if (file->aside.empty()) return 0;
  const int error = PersistFile(file);
  if (error != 0) return error;
  if (rename(file->aside.c_str(), file->path.c_str()) != 0) return errno;
  file->aside.clear();
  return 0;
}

// A short name beside a file, whose own may be as long as one can be.
std::string Aside(const char* path) {
  static std::atomic<int> count{0};
  return support::ParentOf(path) + "/.aside-" + std::to_string(getpid()) + "-" +
         std::to_string(count++);
}

void Open(const char* path, int more, TF_WritableFile* file, TF_Status* status) {
  support::Guarded(status, path, [&] {
    struct stat facts;
    const bool aside = writes_aside && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
    const std::string place = aside ? Aside(path) : path;
    Descriptor descriptor =
        Descriptor::Open(place.c_str(), O_CREAT | O_WRONLY | flags | (aside ? O_TRUNC : more));
    if (!descriptor.is_open()) return SetErrno(status, errno, path);
    if (aside && more == O_APPEND) {
      const int error = CopyTo(descriptor, path);
      if (error != 0) return SetErrno(status, error, path);
    }
    file->plugin_file = new Synced{path, aside ? place : "", std::move(descriptor)};
    support::SetOk(status);
  });
}

void NewWritable(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                 TF_Status* status) noexcept {
  Open(path, O_TRUNC, file, status);
}

void NewAppendable(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                   TF_Status* status) noexcept {
  Open(path, O_APPEND, file, status);
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  SetErrno(status, Put(Get(file)->descriptor, buffer, n), Get(file)->path.c_str());
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  support::SetOk(status);
  return lseek(Get(file)->descriptor.get(), 0, SEEK_END);
}

void Flush(const TF_WritableFile* file, TF_Status* status) noexcept {
  SetErrno(status, TakePlace(Get(file)), Get(file)->path.c_str());
}

void Sync(const TF_WritableFile* file, TF_Status* status) {
  int error = TakePlace(Get(file));
  if (error == 0) error = persist(Get(file));
  if (error == 0) error = PersistDirectory(Get(file));
  SetErrno(status, error, Get(file)->path.c_str());
}

void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  const int error = TakePlace(Get(file)), closing = Get(file)->descriptor.Close();
  SetErrno(status, error == 0 ? closing : error, Get(file)->path.c_str());
}

void Cleanup(TF_WritableFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

void WithSync(support::Tables& tables, int (*by)(const Synced*)) {
  persist = by;
  tables.writable_file = {Cleanup, Append, Tell, Flush, Guard<Sync>::Call, Close};
  tables.filesystem.new_writable_file = NewWritable;
  tables.filesystem.new_appendable_file = NewAppendable;
}

}  // namespace

std::vector<Choice> SyncChoices() {
  const char* question = "how sync makes durable what was appended";
  return {
      {"sync-aside", question, "what is there is replaced by a file that is durable; not in `all`",
       [](support::Tables& tables) {
         WithSync(tables, PersistFile);
         writes_aside = true;
       },
       false},
      {"sync-each-write", question, "each write(2) does, by O_DSYNC; not in `all`",
       [](support::Tables& tables) {
         WithSync(tables, [](const Synced*) { return 0; });
         flags = O_DSYNC;
       },
       false},
      {"sync-the-filesystem", question, "syncfs(2); not in `all`",
       [](support::Tables& tables) { WithSync(tables, PersistAll); }, false},
  };
}

}  // namespace choices
