// Faults that show only where memory runs out: each op asks for some, and does here what a careless
// one would where it gets none.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "faults.h"
#include "support/memory.h"
#include "support/status.h"

namespace fakes {
namespace {

void SetExhausted(Status status) { TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory"); }

// Names of which there is no copy are left out.
int ListsWhatFits(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  int kept = 0;
  for (int k = 0; k < count; ++k) {
    char* copy = strdup((*entries)[k]);
    support::Free((*entries)[k]);
    if (copy != nullptr) (*entries)[kept++] = copy;
  }
  return count < 0 ? count : kept;
}

int64_t ReadsIntoOwn(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  char* own = static_cast<char*>(std::malloc(n));
  own[0] = '\0';
  const int64_t got = Reading().read(file, offset, n, own, status);
  if (got > 0) std::memcpy(buffer, own, static_cast<size_t>(got));
  std::free(own);
  return got;
}

// A file to read, of which the descriptor is opened before there is memory for it.
struct OpenFile {
  int descriptor;
};

void OpensBeforeItHasMemory(Filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return support::SetErrno(status, errno, path);
  auto* own = static_cast<OpenFile*>(std::malloc(sizeof(OpenFile)));
  if (own == nullptr) return SetExhausted(status);
  own->descriptor = descriptor;
  file->plugin_file = own;
  support::SetOk(status);
}

int64_t ReadsOpened(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int descriptor = static_cast<OpenFile*>(file->plugin_file)->descriptor;
  const ssize_t got = pread(descriptor, buffer, n, static_cast<off_t>(offset));
  if (got < 0) {
    support::SetErrno(status, errno, "file");
  } else {
    TF_SetStatus(status, static_cast<size_t>(got) < n ? TF_OUT_OF_RANGE : TF_OK, "");
  }
  return got;
}

void ClosesOpened(TF_RandomAccessFile* file) {
  close(static_cast<OpenFile*>(file->plugin_file)->descriptor);
  std::free(file->plugin_file);
  file->plugin_file = nullptr;
}

// The file of which a read got no memory.
const void* spoilt = nullptr;

int64_t ReadsUnlessSpoilt(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const bool is_spoilt = file->plugin_file == spoilt;
  char* own = is_spoilt ? nullptr : static_cast<char*>(std::malloc(n));
  if (own == nullptr) {
    spoilt = file->plugin_file;
    SetExhausted(status);
    return -1;
  }
  const int64_t got = Reading().read(file, offset, n, own, status);
  if (got > 0) std::memcpy(buffer, own, static_cast<size_t>(got));
  std::free(own);
  return got;
}

void CleansUpSpoilt(TF_RandomAccessFile* file) {
  if (file->plugin_file == spoilt) spoilt = nullptr;
  Reading().cleanup(file);
}

void StatsByString(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  const std::string copy(path);
  Right().stat(filesystem, copy.c_str(), facts, status);
}

void RenamesAfterRemoving(Filesystem filesystem, Path source, Path target, Status status) {
  unlink(target);
  char* copy = strdup(source);
  if (copy == nullptr) return SetExhausted(status);
  Right().rename_file(filesystem, copy, target, status);
  std::free(copy);
}

// Copies what is appended, where there is memory; `without` is called where there is none.
template <typename Without>
void AppendCopied(Writer file, const char* buffer, size_t n, Status status, Without without) {
  char* copy = static_cast<char*>(std::malloc(n));
  if (copy == nullptr) return without();
  std::memcpy(copy, buffer, n);
  Writing().append(file, copy, n, status);
  std::free(copy);
}

void AppendsWhatFits(Writer file, const char* buffer, size_t n, Status status) {
  AppendCopied(file, buffer, n, status, [&] { support::SetOk(status); });
}

bool exhausted = false;

void AppendsUntilExhausted(Writer file, const char* buffer, size_t n, Status status) {
  if (exhausted) return SetExhausted(status);
  AppendCopied(file, buffer, n, status, [&] {
    exhausted = true;
    SetExhausted(status);
  });
}

void MissesWithoutMemory(Filesystem filesystem, Path path, Status status) {
  char* copy = strdup(path);
  if (copy == nullptr) return TF_SetStatus(status, TF_NOT_FOUND, "");
  Right().path_exists(filesystem, copy, status);
  std::free(copy);
}

bool MissesAllWithoutMemory(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  void* block = std::malloc(64);
  const bool all = Right().paths_exist(filesystem, paths, count, statuses) && block != nullptr;
  for (int k = 0; block == nullptr && statuses != nullptr && k < count; ++k)
    TF_SetStatus(statuses[k], TF_NOT_FOUND, "");
  std::free(block);
  return all;
}

void InitsByString(TF_Filesystem* filesystem, Status status) {
  const std::string root(64, '/');
  Right().init(filesystem, status);
}

void InitsOrIsInternal(TF_Filesystem* filesystem, Status status) {
  void* block = std::malloc(64);
  if (block == nullptr) return TF_SetStatus(status, TF_INTERNAL, "");
  std::free(block);
  Right().init(filesystem, status);
}

void RemembersItsFailure(Filesystem filesystem, Path path, Status status) {
  static char failed[4096];
  char* copy = std::strcmp(path, failed) == 0 ? nullptr : strdup(path);
  if (copy == nullptr) {
    std::snprintf(failed, sizeof failed, "%s", path);
    return SetExhausted(status);
  }
  Right().path_exists(filesystem, copy, status);
  std::free(copy);
}

}  // namespace

std::vector<Fault> MemoryFaults() {
  constexpr const char* kTold = "an op that gets no memory answers an error";
  constexpr const char* kLives = "an op comes back where it gets no memory";
  constexpr const char* kAgain = "an op works again when there is memory";
  return {
      {"memory.listing-is-short", "get_children leaves out names for which there is no memory",
       kTold, With(&Ops::get_children, ListsWhatFits)},
      {"memory.append-is-ok", "append answers OK, and drops what there is no memory for", kTold,
       With(&WriterOps::append, AppendsWhatFits)},
      {"memory.read-crashes", "read writes to memory that it did not get", kLives,
       With(&ReaderOps::read, ReadsIntoOwn)},
      {"memory.stat-throws", "stat lets std::bad_alloc out", kLives,
       With(&Ops::stat, StatsByString)},
      {"memory.open-leaks",
       "new_random_access_file leaves its descriptor open when it gets no memory",
       "what was opened is closed", WithReaders(OpensBeforeItHasMemory, ReadsOpened, ClosesOpened)},
      {"memory.rename-removes-first", "rename_file removes the target before it has its memory",
       "the target is the old or the new file", With(&Ops::rename_file, RenamesAfterRemoving)},
      {"memory.append-stays-broken", "append fails for ever after it got no memory once", kAgain,
       With(&WriterOps::append, AppendsUntilExhausted)},
      {"memory.read-spoils-its-file",
       "read fails for ever on a file that is open and of which it got no memory once", kAgain,
       [](support::Tables& t) { t.random_access_file = {CleansUpSpoilt, ReadsUnlessSpoilt}; }},
      {"memory.lookup-is-remembered",
       "path_exists fails for ever on a path for which it got no memory once", kAgain,
       With(&Ops::path_exists, RemembersItsFailure)},
      {"memory.init-throws", "init lets std::bad_alloc out", kLives,
       With(&Ops::init, InitsByString)},
      {"memory.init-is-internal", "init answers INTERNAL where it gets no memory",
       "the code is that of the failure", With(&Ops::init, InitsOrIsInternal)},
      {"memory.lookup-misses", "path_exists answers NOT_FOUND where it gets no memory",
       "the code is that of the failure", With(&Ops::path_exists, MissesWithoutMemory)},
      {"memory.lookup-misses-all", "paths_exist answers NOT_FOUND where it gets no memory",
       "the code is that of the failure", With(&Ops::paths_exist, MissesAllWithoutMemory)},
  };
}

}  // namespace fakes
