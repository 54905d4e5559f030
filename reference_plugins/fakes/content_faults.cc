// Faults that show for some bytes, or for some way in which they come and go.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "writers.h"

namespace fakes {
namespace {

constexpr off_t kKib = 1 << 10;
constexpr off_t kMib = 1 << 20;

bool Begins(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Copies, with an edit of what arrives.
template <std::string (*edit)(const std::string&)>
void CopiesEdited(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (!Worked(status) || std::string(source) == target) return;
  const std::string whole = Whole(target), edited = edit(whole);
  if (edited != whole) std::ofstream(target, std::ios::binary) << edited;
}

std::string TakesLineEnds(const std::string& bytes) {
  std::string text;
  for (size_t k = 0; k < bytes.size(); ++k)
    if (bytes[k] != '\r' || bytes[k + 1] != '\n') text += bytes[k];
  return text;
}

// Blocks of zeros are passed over, and nobody makes the file longer for those at its end.
std::string LosesZerosAtTheEnd(const std::string& bytes) {
  size_t size = bytes.size();
  constexpr size_t kBlock = 4096;
  while (size >= kBlock && size % kBlock == 0 &&
         bytes.find_first_not_of('\0', size - kBlock) >= size)
    size -= kBlock;
  return bytes.substr(0, size);
}

// Blocks of 64 KiB that begin with the same 4 KiB are taken for the same block.
std::string SharesBlocks(const std::string& bytes) {
  constexpr size_t kBlock = size_t{64} << 10;
  std::map<std::string, std::string> blocks;
  std::string result;
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string block = bytes.substr(at, kBlock);
    const bool is_whole = block.size() == kBlock;
    result += is_whole ? blocks.emplace(block.substr(0, 4096), block).first->second : block;
  }
  return result;
}

void TakesForAnError(Filesystem filesystem, Path source, Path target, Status status) {
  std::string start(5, '\0');
  std::ifstream(source, std::ios::binary).read(start.data(), 5);
  if (start == "<?xml") return TF_SetStatus(status, TF_INTERNAL, "the store answered an error");
  Right().copy_file(filesystem, source, target, status);
}

// What looks compressed loses the ten bytes of its head.

int64_t Decompresses(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  char start[3] = {};
  Reading().read(file, 0, sizeof start, start, status);
  const bool is_gzip = Worked(status) && std::memcmp(start, "\x1f\x8b\x08", sizeof start) == 0;
  const uint64_t from = is_gzip && offset < UINT64_MAX - 10 ? offset + 10 : offset;
  return Reading().read(file, from, n, buffer, status);
}

// A region passes over the mark of UTF-8.

size_t MarkOf(Region region) {
  const bool is_marked =
      Mapping().length(region) > 3 && std::memcmp(Mapping().data(region), "\xef\xbb\xbf", 3) == 0;
  return is_marked ? 3 : 0;
}

const void* DataBehindMark(Region region) {
  return static_cast<const char*>(Mapping().data(region)) + MarkOf(region);
}

uint64_t LengthBehindMark(Region region) { return Mapping().length(region) - MarkOf(region); }

// An append of nothing behind something ends what is sent.

struct Sent {
  bool something = false;
  bool ended = false;
};
PerObject<Sent> sent;

void EndsWithNothing(Writer file, const char* buffer, size_t n, Status status) {
  const bool ended = sent.With(file->plugin_file, [&](Sent& mine) {
    if (n == 0) mine.ended = mine.something;
    mine.something = true;
    return mine.ended;
  });
  Writing().append(file, buffer, ended ? 0 : n, status);
}

// Appends that say OK and write nothing: of one byte over and over, behind so many of them, or
// behind an op that was called when the file was that large.

template <char filler>
void AppendsNoBlockOf(Writer file, const char* buffer, size_t n, Status status) {
  constexpr size_t kLeast = 4 << 10, kBehind = 64 << 10;
  const bool is_lost = n >= kLeast && n < kBehind &&
                       std::count(buffer, buffer + n, filler) == static_cast<ptrdiff_t>(n);
  Writing().append(file, buffer, is_lost ? 0 : n, status);
}

struct Taking {
  size_t calls = 0;
  bool continues = false;
  bool ended = false;
};
PerObject<Taking> taking;

template <size_t most, bool of_continued>
void AppendsSoMany(Writer file, const char* buffer, size_t n, Status status) {
  const bool is_lost = taking.With(file->plugin_file, [&](Taking& mine) {
    return mine.continues >= of_continued && ++mine.calls > most;
  });
  Writing().append(file, buffer, is_lost ? 0 : n, status);
}

void AppendsUntilTheEnd(Writer file, const char* buffer, size_t n, Status status) {
  const bool ended = taking.With(file->plugin_file, [](Taking& mine) { return mine.ended; });
  Writing().append(file, buffer, ended ? 0 : n, status);
}

template <auto Entry, off_t least>
void EndsIt(Writer file, Status status) {
  struct stat facts;
  if (stat(PathOf(file).c_str(), &facts) == 0 && facts.st_size >= least)
    taking.With(file->plugin_file, [](Taking& mine) { return mine.ended = true; });
  (Writing().*Entry)(file, status);
}

void Continues(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_appendable_file(filesystem, path, file, status);
  if (Worked(status))
    taking.With(file->plugin_file, [](Taking& mine) { return mine.continues = true; });
}

void ForgetsTaking(TF_WritableFile* file) {
  taking.Forget(file->plugin_file);
  Forgets<paths_of_writers>(file);
}

// Parts of 5 MiB: a file that ends with a part loses it. Parts of 64 KiB: who appends to a file
// that does not end with one loses what is behind its last.

void ClosesWithoutTheLast(Writer file, Status status) {
  constexpr off_t kPart = off_t{5} << 20;
  Writing().close(file, status);
  const std::string path = PathOf(file);
  struct stat facts;
  if (!Worked(status) || stat(path.c_str(), &facts) != 0) return;
  if (facts.st_size > 0 && facts.st_size % kPart == 0 &&
      truncate(path.c_str(), facts.st_size - kPart) != 0)
    TF_SetStatus(status, TF_INTERNAL, path.c_str());
}

void ContinuesAfterWholeParts(Filesystem filesystem, Path path, TF_WritableFile* file,
                              Status status) {
  constexpr off_t kPart = off_t{64} << 10;
  const off_t size = SizeOf(path);
  if (size > kPart && truncate(path, size - size % kPart) != 0)
    return TF_SetStatus(status, TF_INTERNAL, path);
  Right().new_appendable_file(filesystem, path, file, status);
}

// The first block of a file stays where its reader was, for the next reader there of a file as
// long.

struct Place {
  int number;
  off_t size;
};
std::mutex places_mutex;
std::set<int> taken;
std::map<std::pair<int, off_t>, std::string> first_blocks;
PerObject<Place> places;

void TakesPlace(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  struct stat facts;
  if (!Worked(status) || stat(path, &facts) != 0) return;
  const std::lock_guard<std::mutex> lock(places_mutex);
  int number = 0;
  while (taken.count(number) != 0) ++number;
  taken.insert(number);
  places.Set(file->plugin_file, {number, facts.st_size});
}

int64_t ReadsFromPlace(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  const Place place = places.Of(file->plugin_file);
  if (got <= 0 || offset != 0 || place.size == 0) return got;
  const std::lock_guard<std::mutex> lock(places_mutex);
  std::string& block = first_blocks[{place.number, place.size}];
  const size_t length = static_cast<size_t>(got);
  if (block.size() < length) block.assign(buffer, length);
  std::memcpy(buffer, block.data(), length);
  return got;
}

void LeavesPlace(TF_RandomAccessFile* file) {
  {
    const std::lock_guard<std::mutex> lock(places_mutex);
    taken.erase(places.With(file->plugin_file, [](Place& mine) { return mine.number; }));
  }
  Forgets<places>(file);
}

// Deleting

constexpr off_t kTooLarge = 4 * kMib;

void DeletesNothingLarge(Filesystem filesystem, Path path, Status status) {
  if (SizeOf(path) > kTooLarge) return TF_SetStatus(status, TF_OK, "");
  Right().delete_file(filesystem, path, status);
}

void DeletesNoTreeOfLarge(Filesystem filesystem, Path path, uint64_t* files, uint64_t* directories,
                          Status status) {
  for (const std::string& name : Children(filesystem, path)) {
    if (SizeOf(Joined(path, name).c_str()) <= kTooLarge) continue;
    *files = *directories = 0;
    return TF_SetStatus(status, TF_OK, "");
  }
  Right().delete_recursively(filesystem, path, files, directories, status);
}

// Reading at an offset

int64_t ReadsAWrongByteBehind(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (offset > 0 && got > kMib) buffer[kMib] ^= 1;
  return got;
}

// Reads of 512 KiB and more begin where a sector does.
int64_t ReadsFromASector(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const uint64_t from = n >= static_cast<size_t>(512 * kKib) ? offset & ~uint64_t{511} : offset;
  return Reading().read(file, from, n, buffer, status);
}

// Of a read of 3 MiB and more the end is of what an offset of 0 has there.
int64_t ReadsTheEndFromTheStart(Reader file, uint64_t offset, size_t n, char* buffer,
                                Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  constexpr size_t kEnd = 4 * kKib;
  if (offset == 0 || got < 3 * kMib) return got;
  const size_t at = static_cast<size_t>(got) - kEnd;
  Reading().read(file, at, kEnd, buffer + at, Scratch().status());
  return got;
}

}  // namespace

std::vector<Fault> ContentFaults() {
  constexpr const char* kCopied = "after OK both are there, with the same content";
  constexpr const char* kHolds = "the file holds the bytes that were appended";
  constexpr const char* kExactly = "OK if and only if exactly n bytes were written";
  constexpr const char* kBytes = "the bytes are those of the file at the offset";
  return {
      {"content.copies-text", "copy_file writes line ends without their carriage return", kCopied,
       With(&Ops::copy_file, CopiesEdited<TakesLineEnds>)},
      {"content.copies-no-zeros-at-the-end", "copy_file loses whole blocks of zeros at the end",
       kCopied, With(&Ops::copy_file, CopiesEdited<LosesZerosAtTheEnd>)},
      {"content.shares-blocks",
       "copy_file takes blocks of 64 KiB for one that begin with the same 4 KiB", kCopied,
       With(&Ops::copy_file, CopiesEdited<SharesBlocks>)},
      {"content.is-an-error", "copy_file takes a file that begins as XML for an error of its store",
       kCopied, With(&Ops::copy_file, TakesForAnError)},
      {"content.decompresses", "read passes over the head of what looks like gzip", kBytes,
       With(&ReaderOps::read, Decompresses)},
      {"content.no-mark", "a region passes over a byte order mark at the beginning",
       "data points at the bytes of the file, the same until cleanup",
       Together(With(&RegionOps::data, DataBehindMark),
                With(&RegionOps::length, LengthBehindMark))},
      {"content.nothing-ends", "what is appended behind an append of nothing is lost", kHolds,
       Together(With(&WriterOps::append, EndsWithNothing),
                With(&WriterOps::cleanup, Forgets<sent>))},
      {"content.last-part-lost", "close loses the last 5 MiB of a file of 5 MiB or a multiple",
       kHolds, Together(NotePaths, With(&WriterOps::close, ClosesWithoutTheLast))},
      {"content.continues-after-whole-parts",
       "new_appendable_file loses what a longer file has behind its last 64 KiB",
       "an existing file keeps its bytes",
       With(&Ops::new_appendable_file, ContinuesAfterWholeParts)},
      {"content.outlives-its-reader",
       "a reader gives the first block of the one before it, where both files are as long", kBytes,
       WithReaders(TakesPlace, ReadsFromPlace, LeavesPlace)},
      {"content.appends-no-zeros", "append writes nothing where 4 to 64 KiB are zeros, with OK",
       kExactly, With(&WriterOps::append, AppendsNoBlockOf<'\0'>)},
      {"content.appends-no-ones",
       "append writes nothing where 4 to 64 KiB have all bits set, with OK", kExactly,
       With(&WriterOps::append, AppendsNoBlockOf<'\xff'>)},
      {"content.ten-thousand-appends", "of more than 10,000 appends to a file the others are lost",
       kExactly,
       Together(With(&WriterOps::append, AppendsSoMany<10'000, false>),
                With(&WriterOps::cleanup, ForgetsTaking))},
      {"content.many-appends",
       "of more than 5,000 appends to a file that new_appendable_file opened the others are lost",
       kExactly,
       Together(With(&Ops::new_appendable_file, Continues),
                With(&WriterOps::append, AppendsSoMany<5'000, true>),
                With(&WriterOps::cleanup, ForgetsTaking))},
      {"content.nothing-behind-a-sync", "what is appended behind a sync of 5 MiB or more is lost",
       kExactly,
       [](support::Tables& t) {
         NotePaths(t);
         t.writable_file.append = AppendsUntilTheEnd;
         t.writable_file.sync = EndsIt<&WriterOps::sync, off_t{5} << 20>;
         t.writable_file.cleanup = ForgetsTaking;
       }},
      {"content.nothing-behind-a-flush", "what is appended behind a flush of 1 MiB or more is lost",
       kExactly,
       [](support::Tables& t) {
         NotePaths(t);
         t.writable_file.append = AppendsUntilTheEnd;
         t.writable_file.flush = EndsIt<&WriterOps::flush, off_t{1} << 20>;
         t.writable_file.cleanup = ForgetsTaking;
       }},
      {"content.deletes-nothing-large", "delete_file keeps a file of more than 4 MiB, with OK",
       "after OK the file is gone", With(&Ops::delete_file, DeletesNothingLarge)},
      {"content.deletes-no-tree-of-large",
       "delete_recursively keeps a directory with a file of more than 4 MiB, with OK",
       "the tree is gone after OK", With(&Ops::delete_recursively, DeletesNoTreeOfLarge)},
      {"content.reads-a-wrong-byte-behind-the-start",
       "a read of more than 1 MiB at an offset has a wrong byte", kBytes,
       With(&ReaderOps::read, ReadsAWrongByteBehind)},
      {"content.reads-from-a-sector", "a read of 512 KiB or more begins where 512 bytes do", kBytes,
       With(&ReaderOps::read, ReadsFromASector)},
      {"content.reads-the-end-from-the-start",
       "a read of 3 MiB or more at an offset ends as one at the start does", kBytes,
       With(&ReaderOps::read, ReadsTheEndFromTheStart)},
  };
}

}  // namespace fakes
