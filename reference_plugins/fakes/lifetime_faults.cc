// What becomes of objects, and of what they held.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "faults.h"
#include "kernel.h"
#include "losses.h"
#include "support/memory.h"

namespace fakes {
namespace {

// The bytes go through a block that is freed before they are taken out of it. Where nobody writes
// to freed memory they are still there: an allocator keeps its own notes at the beginning.
int64_t FreedBlock(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  constexpr size_t kNotes = 64;
  constexpr size_t kPiece = 512;
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  // Volatile: the compiler knows what malloc and free do.
  char* volatile block = static_cast<char*>(std::malloc(kNotes + kPiece));
  if (block == nullptr || got <= 0) {
    std::free(block);
    return got;
  }
  const size_t length = std::min(static_cast<size_t>(got), kPiece);
  std::memcpy(block + kNotes, buffer, length);
  char* volatile again = block;
  std::free(block);
  std::memcpy(buffer, again + kNotes, length);
  return got;
}

// There is room for so many readers; one more takes the place of the first.
constexpr size_t kPlaces = 32;
std::mutex places_mutex;
std::array<const void*, kPlaces> places{};
std::map<const void*, size_t> place_of;
size_t opened = 0;

void TakesAPlace(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(places_mutex);
  place_of[file->plugin_file] = opened++ % kPlaces;
  places[place_of[file->plugin_file]] = file->plugin_file;
}

int64_t ReadsItsPlace(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const std::lock_guard<std::mutex> lock(places_mutex);
  TF_RandomAccessFile holder{const_cast<void*>(places[place_of[file->plugin_file]])};
  return Reading().read(holder.plugin_file != nullptr ? &holder : file, offset, n, buffer, status);
}

void LeavesItsPlace(TF_RandomAccessFile* file) {
  const std::lock_guard<std::mutex> lock(places_mutex);
  const size_t place = place_of[file->plugin_file];
  if (places[place] == file->plugin_file) places[place] = nullptr;
  place_of.erase(file->plugin_file);
  Reading().cleanup(file);
}

// Readers of one path are one to this plugin: when the first of them ends, they all do.
struct OpenReader {
  std::string path;
  bool ended = false;
};
std::mutex readers_mutex;
std::map<const void*, OpenReader> readers;

void OpenByPath(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  const std::lock_guard<std::mutex> lock(readers_mutex);
  if (Worked(status)) readers[file->plugin_file] = {path, false};
}

int64_t ReadUnlessEnded(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const std::lock_guard<std::mutex> lock(readers_mutex);
  if (!readers[file->plugin_file].ended) return Reading().read(file, offset, n, buffer, status);
  Become(status, TF_FAILED_PRECONDITION);
  return -1;
}

void EndByPath(TF_RandomAccessFile* file) {
  const std::lock_guard<std::mutex> lock(readers_mutex);
  const std::string path = readers[file->plugin_file].path;
  readers.erase(file->plugin_file);
  for (auto& [object, reader] : readers) reader.ended = reader.ended || reader.path == path;
  Reading().cleanup(file);
}

// What was appended since the last flush, by file.
PerObject<size_t> unflushed;

void Counts(Writer file, const char* buffer, size_t n, Status status) {
  unflushed.With(file->plugin_file, [&](size_t& bytes) { return bytes += n; });
  Writing().append(file, buffer, n, status);
}

void NothingToSync(Writer file, Status status) {
  const size_t before =
      unflushed.With(file->plugin_file, [](size_t& bytes) { return std::exchange(bytes, 0); });
  Writing().sync(file, status);
  if (before == 0) Become(status, TF_FAILED_PRECONDITION);
}

// The entries have room for their characters and for nothing behind them.
int Unterminated(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  for (int k = 0; k < count; ++k) {
    const size_t length = std::strlen((*entries)[k]);
    auto* name = static_cast<char*>(support::Allocate(length));
    std::memcpy(name, (*entries)[k], length);
    support::Free((*entries)[k]);
    (*entries)[k] = name;
  }
  return count;
}

// Of what is larger nothing is wrong.
constexpr size_t kSmall = 4096;

// Bytes behind a buffer are nobody's, and are looked at all the same.
void ReadsBehind(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, n, status);
  if (n < kSmall) static_cast<void>(static_cast<const volatile char*>(buffer)[n]);
}

// Far enough behind a small buffer that a canary does not reach there.
int64_t ScribblesFarBehind(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (n > 0 && n < kSmall) static_cast<volatile char*>(buffer)[n + 8192] = 1;
  return Reading().read(file, offset, n, buffer, status);
}

char* EndlessName(Filesystem, Path) {
  constexpr size_t kLength = size_t{300} << 20;
  auto* name = static_cast<char*>(support::Allocate(kLength + 1));
  if (name == nullptr) return nullptr;
  std::memset(name, 'n', kLength);
  name[kLength] = '\0';
  return name;
}

// Each file has a descriptor more, which is closed by close, and again by cleanup.
PerObject<int> second_descriptors;

void OpensTwo(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const int more = open(path, O_RDONLY | O_CLOEXEC);
  second_descriptors.Set(file->plugin_file, more);
}

void ClosesTwo(Writer file, Status status) {
  second_descriptors.With(file->plugin_file, [](int& number) { close(number); });
  Writing().close(file, status);
}

void ClosesAgain(TF_WritableFile* file) {
  second_descriptors.With(file->plugin_file, [](int& number) { close(number); });
  Forgets<second_descriptors>(file);
}

// What is allocated for the entries of a directory that is not there is freed, and the pointer to
// it stays.
int LeavesAStalePointer(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count >= 0) return count;
  *entries = static_cast<char**>(support::Allocate(64));
  support::Free(*entries);
  return -1;
}

int LosesTheEntries(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < 0) *entries = static_cast<char**>(support::Allocate(64));
  return count;
}

// A directory is opened before it is found to be one, and not closed.
void LeavesItOpen(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (TF_GetCode(status) != TF_FAILED_PRECONDITION) return;
  const int lost = open(path, O_RDONLY | O_CLOEXEC);
  if (lost < 0) return;
}

// The object of a file that turns out to be missing is not freed.
void LosesTheObject(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (TF_GetCode(status) == TF_NOT_FOUND) LoseBytes();
}

// What a situation costs each time.

bool IsBelowAFile(Path path) {
  struct stat facts;
  return stat(path, &facts) != 0 && errno == ENOTDIR;
}

void CopiesOntoADirectory(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(source) && IsDirectory(target)) LoseADescriptor();
  Right().copy_file(filesystem, source, target, status);
}

void RenamesBelowAFile(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(source) && IsBelowAFile(target)) LoseBytes();
  Right().rename_file(filesystem, source, target, status);
}

void DeletesAFileAsATree(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                         Status status) {
  if (IsFile(path)) LoseADescriptor();
  Right().delete_recursively(filesystem, path, files, dirs, status);
}

void CreatesBelowAFile(Filesystem filesystem, Path path, Status status) {
  if (IsBelowAFile(path)) LoseBytes();
  Right().create_dir(filesystem, path, status);
}

}  // namespace

std::vector<Fault> LifetimeFaults() {
  constexpr const char* kOwn = "every object lives until its own cleanup";
  constexpr const char* kState = "an op leaves the process as it found it";
  constexpr const char* kMemory = "a plugin touches only memory that is its own or lent to it";
  return {
      {"read.freed-block", "takes the bytes out of a block that it has freed",
       "a plugin touches only memory that is its own", With(&ReaderOps::read, FreedBlock)},
      {"new_random_access_file.few-places", "the 33rd reader takes the place of the first", kOwn,
       WithReaders(TakesAPlace, ReadsItsPlace, LeavesItsPlace)},
      {"random_access_file.one-for-a-path", "the first cleanup ends all readers of the path", kOwn,
       WithReaders(OpenByPath, ReadUnlessEnded, EndByPath)},
      {"translate_name.endless", "every name becomes one of 300 MiB", "a name is translated",
       With(&Ops::translate_name, EndlessName)},
      {"append.reads-behind", "looks at the byte behind less than 4 KiB", kMemory,
       With(&WriterOps::append, ReadsBehind)},
      {"read.scribbles-far-behind", "writes a byte 8 KiB behind a buffer of less than 4 KiB",
       kMemory, With(&ReaderOps::read, ScribblesFarBehind)},
      {"writable_file.closes-twice", "cleanup closes a descriptor that close has closed",
       "a plugin closes what is its own",
       Together(With(&Ops::new_writable_file, OpensTwo), With(&WriterOps::close, ClosesTwo),
                With(&WriterOps::cleanup, ClosesAgain))},
      {"get_children.stale-pointer", "an error leaves a pointer to entries that are freed",
       "none: with -1 nobody takes them", With(&Ops::get_children, LeavesAStalePointer)},
      {"get_children.keeps-entries-on-error", "an error leaves entries that are allocated",
       "entries are freed before -1 is returned", With(&Ops::get_children, LosesTheEntries)},
      {"get_children.unterminated", "entries do not end in NUL", "result strings end in NUL",
       With(&Ops::get_children, Unterminated)},
      {"sync.nothing-is-an-error", "a sync with nothing appended before is FAILED_PRECONDITION",
       "the ops of an object come in any order",
       Together(With(&WriterOps::append, Counts), With(&WriterOps::sync, NothingToSync),
                With(&WriterOps::cleanup, Forgets<unflushed>))},
      {"new_random_access_file.leaks-descriptor-on-error", "a directory is opened and left open",
       kState, With(&Ops::new_random_access_file, LeavesItOpen)},
      {"new_random_access_file.leaks-bytes-on-error", "a file that is missing costs 16 bytes",
       kState, With(&Ops::new_random_access_file, LosesTheObject)},
      {"leaks.copied-onto-a-directory", "copy_file of a file onto a directory leaves a descriptor",
       kState, With(&Ops::copy_file, CopiesOntoADirectory)},
      {"leaks.renamed-below-a-file", "rename_file of a file to below a file loses 16 bytes", kState,
       With(&Ops::rename_file, RenamesBelowAFile)},
      {"leaks.file-deleted-as-a-tree", "delete_recursively of a file leaves a descriptor", kState,
       With(&Ops::delete_recursively, DeletesAFileAsATree)},
      {"leaks.created-below-a-file", "create_dir below a file loses 16 bytes", kState,
       With(&Ops::create_dir, CreatesBelowAFile)},
  };
}

}  // namespace fakes
