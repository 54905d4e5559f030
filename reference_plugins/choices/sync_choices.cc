// How sync makes durable what was appended: each way is right, and only a loss of power shows it.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "choices.h"
#include "posix/durable.h"
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
int access_mode = O_WRONLY;
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
  while (error == 0 && (got = read(from.get(), buffer, sizeof buffer)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    error = got < 0 ? errno : Put(to, buffer, static_cast<size_t>(got));
  }
  return error;
}

int PersistFile(const Synced* file) { return posix::Persist(file->descriptor); }

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
std::string Aside(Path path) {
  static std::atomic<int> count{0};
  return support::ParentOf(path) + "/.aside-" + std::to_string(getpid()) + "-" +
         std::to_string(count++);
}

void Open(Path path, int more, TF_WritableFile* file, Status status) {
  support::Guarded(status, path, [&] {
    struct stat facts;
    const bool aside = writes_aside && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
    const std::string place = aside ? Aside(path) : path;
    Descriptor descriptor =
        Descriptor::Open(place.c_str(), O_CREAT | access_mode | flags | (aside ? O_TRUNC : more));
    if (!descriptor.is_open()) return SetErrno(status, errno, path);
    if (aside && more == O_APPEND) {
      const int error = CopyTo(descriptor, path);
      if (error != 0) return SetErrno(status, error, path);
    }
    file->plugin_file = new Synced{path, aside ? place : "", std::move(descriptor)};
    support::SetOk(status);
  });
}

template <int more>
void New(Filesystem, Path path, TF_WritableFile* file, Status status) noexcept {
  Open(path, more, file, status);
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, Status status) noexcept {
  SetErrno(status, Put(Get(file)->descriptor, buffer, n), Get(file)->path.c_str());
}

int64_t Tell(const TF_WritableFile* file, Status status) noexcept {
  support::SetOk(status);
  return lseek(Get(file)->descriptor.get(), 0, SEEK_END);
}

void Flush(const TF_WritableFile* file, Status status) noexcept {
  SetErrno(status, TakePlace(Get(file)), Get(file)->path.c_str());
}

void Sync(const TF_WritableFile* file, Status status) noexcept {
  support::Guarded(status, Get(file)->path.c_str(), [&] {
    int error = TakePlace(Get(file));
    if (error == 0) error = persist(Get(file));
    if (error == 0) error = posix::PersistName(Get(file)->descriptor, Get(file)->path);
    SetErrno(status, error, Get(file)->path.c_str());
  });
}

void Close(const TF_WritableFile* file, Status status) noexcept {
  const int error = TakePlace(Get(file)), closing = Get(file)->descriptor.Close();
  SetErrno(status, error == 0 ? closing : error, Get(file)->path.c_str());
}

void Cleanup(TF_WritableFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

// What is appended is put into a mapping of the end of the file, which has room for it then.
void AppendMapped(const TF_WritableFile* file, const char* buffer, size_t n,
                  Status status) noexcept {
  const int descriptor = Get(file)->descriptor.get();
  const char* path = Get(file)->path.c_str();
  const off_t end = lseek(descriptor, 0, SEEK_END);
  if (n == 0) return support::SetOk(status);
  const off_t begin = end - end % sysconf(_SC_PAGESIZE);
  const auto size = static_cast<size_t>(end - begin) + n;
  int error;
  while ((error = posix_fallocate(descriptor, end, static_cast<off_t>(n))) == EINTR) continue;
  if (error != 0) return SetErrno(status, error, path);
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, begin);
  if (mapping == MAP_FAILED) {
    error = errno;
    if (ftruncate(descriptor, end) != 0) error = errno;
    return SetErrno(status, error, path);
  }
  std::memcpy(static_cast<char*>(mapping) + (end - begin), buffer, n);
  munmap(mapping, size);
  support::SetOk(status);
}

int PersistMapped(const Synced* file) {
  const int descriptor = file->descriptor.get();
  const auto size = static_cast<size_t>(lseek(descriptor, 0, SEEK_END));
  if (size == 0) return PersistFile(file);
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED) return errno;
  const int error = msync(mapping, size, MS_SYNC) == 0 ? 0 : errno;
  munmap(mapping, size);
  return error;
}

void WithSync(support::Tables& tables, int (*by)(const Synced*)) {
  persist = by;
  tables.writable_file = {Cleanup, Append, Tell, Flush, Sync, Close};
  tables.filesystem.new_writable_file = New<O_TRUNC>;
  tables.filesystem.new_appendable_file = New<O_APPEND>;
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
      {"sync-by-mapping", question, "files are written and synced by mmap(2); not in `all`",
       [](support::Tables& tables) {
         WithSync(tables, PersistMapped);
         tables.writable_file.append = AppendMapped;
         access_mode = O_RDWR;
       },
       false},
      {"sync-the-filesystem", question, "syncfs(2); not in `all`",
       [](support::Tables& tables) { WithSync(tables, PersistAll); }, false},
  };
}

}  // namespace choices
