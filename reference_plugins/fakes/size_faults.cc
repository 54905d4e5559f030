// Faults that show only from some size on: of a file, of one call, or of a run of zeros.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "faults.h"
#include "kernel.h"
#include "names.h"

namespace fakes {
namespace {

constexpr off_t kKib = 1 << 10;
constexpr off_t kMib = 1 << 20;

std::string Bytes(Path path, off_t from, off_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  file.read(bytes.data(), size);
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

void Put(Path path, off_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void Cut(Path path, off_t size, Status status) {
  if (truncate(path, size) != 0) TF_SetStatusFromIOError(status, errno, path);
}

bool IsZeros(const std::string& bytes) { return bytes.find_first_not_of('\0') == bytes.npos; }

// Whether two files are as long, and have the same first and last bytes.
bool LookAlike(const char* one, const char* other, off_t first, off_t last) {
  const off_t size = SizeOf(one);
  return size > 0 && size == SizeOf(other) && Bytes(one, 0, first) == Bytes(other, 0, first) &&
         Bytes(one, std::max<off_t>(0, size - last), last) ==
             Bytes(other, std::max<off_t>(0, size - last), last);
}

// Copying and renaming

// Copies or renames. Of the target, so many bytes are left as `kept` says.
template <auto Entry, off_t (*kept)(const char*, off_t)>
void Moves(Filesystem filesystem, Path source, Path target, Status status) {
  (Right().*Entry)(filesystem, source, target, status);
  if (!Worked(status) || std::string(source) == target) return;
  const off_t size = SizeOf(target);
  if (kept(target, size) != size) Cut(target, kept(target, size), status);
}

off_t WithoutZeros(Path path, off_t size) {
  constexpr off_t kBlock = 64 * kKib;
  const bool loses = size >= 2 * kBlock && IsZeros(Bytes(path, size - kBlock, kBlock));
  return loses ? size - kBlock : size;
}

off_t WithoutASmallPart(const char*, off_t size) {
  constexpr off_t kPart = 8 * kMib;
  return size > 2 * kPart && size % kPart < kKib ? size - size % kPart : size;
}

off_t WithoutAByte(const char*, off_t size) {
  constexpr off_t kPart = 5 * kMib;
  return size > kPart && size % kPart == 1 ? size - 1 : size;
}

// Where the source has zeros, the target keeps what it has.
void CopiesAroundZeros(Filesystem filesystem, Path source, Path target, Status status) {
  constexpr off_t kBlock = 64 * kKib;
  const std::string before = Whole(target);
  Right().copy_file(filesystem, source, target, status);
  if (!Worked(status) || std::string(source) == target) return;
  const off_t both = std::min(static_cast<off_t>(before.size()), SizeOf(target));
  for (off_t at = 0; at + kBlock <= both; at += kBlock)
    if (IsZeros(Bytes(target, at, kBlock))) Put(target, at, before.substr(at, kBlock));
}

void CopiesWhatDiffers(Filesystem filesystem, Path source, Path target, Status status) {
  if (LookAlike(source, target, 4 * kKib, 4 * kKib)) return TF_SetStatus(status, TF_OK, "");
  Right().copy_file(filesystem, source, target, status);
}

void RenamesWhatDiffers(Filesystem filesystem, Path source, Path target, Status status) {
  if (std::string(source) != target && LookAlike(source, target, kMib, 1))
    return Right().delete_file(filesystem, source, status);
  Right().rename_file(filesystem, source, target, status);
}

// From `least` bytes on, copying takes its source with it; onto a file that is there, or anywhere.
template <off_t least, bool onto>
void CopiesAndTakes(Filesystem filesystem, Path source, Path target, Status status) {
  const bool takes = SizeOf(source) >= least && (!onto || access(target, F_OK) == 0);
  Right().copy_file(filesystem, source, target, status);
  if (takes && Worked(status) && std::string(source) != target) unlink(source);
}

template <off_t least, bool onto>
void RenamesAndKeeps(Filesystem filesystem, Path source, Path target, Status status) {
  const bool keeps = SizeOf(source) >= least && (!onto || access(target, F_OK) == 0);
  (keeps ? Right().copy_file : Right().rename_file)(filesystem, source, target, status);
}

// How much of what is to be the content of a file it has without the zeros that fill its end.
off_t BeforeTheZeros(const std::string& bytes) {
  constexpr size_t kBlock = 4 * kKib;
  size_t size = bytes.size();
  while (size > 0 && IsZeros(bytes.substr((size - 1) / kBlock * kBlock, size)))
    size = (size - 1) / kBlock * kBlock;
  return static_cast<off_t>(size);
}

void CopiesNoZerosOntoAShorter(Filesystem filesystem, Path source, Path target, Status status) {
  const bool was_shorter = access(target, F_OK) == 0 && SizeOf(target) < SizeOf(source);
  Right().copy_file(filesystem, source, target, status);
  if (!was_shorter || !Worked(status) || SizeOf(source) < 8 * kKib) return;
  Cut(target, BeforeTheZeros(Whole(target)), status);
}

// What is behind the source, and what its last zeros are written onto, stays.
void CopiesNoZerosOntoALonger(Filesystem filesystem, Path source, Path target, Status status) {
  const std::string before = Whole(target);
  Right().copy_file(filesystem, source, target, status);
  const std::string now = Whole(target);
  if (!Worked(status) || before.size() <= now.size() || now.size() < 8 * kKib) return;
  const size_t from = static_cast<size_t>(BeforeTheZeros(now));
  if (from < now.size()) Put(target, static_cast<off_t>(now.size()), before.substr(now.size()));
}

// Writing

void AppendsPart(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, std::min(n, static_cast<size_t>(32 * kMib)), status);
}

void AppendsToWholeParts(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  constexpr off_t kPart = 8 * kMib;
  const off_t size = SizeOf(path);
  Right().new_appendable_file(filesystem, path, file, status);
  if (!Worked(status) || size == 0 || size % kPart != 0) return;
  std::string last = Bytes(path, size - 1, 1);
  last[0] ^= 1;
  Put(path, size - 1, last);
}

void KeepsTheFirst(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  constexpr off_t kMost = 16 * kMib;
  Right().new_appendable_file(filesystem, path, file, status);
  const off_t size = SizeOf(path);
  if (Worked(status) && size > kMost && size <= 4 * kMost) Cut(path, kMost, status);
}

struct Written {
  std::string path;
  std::string before;  // what the file held that is written anew
  size_t zeros = 0;    // of the last append
};
PerObject<Written> written;

template <auto Entry>
void Opens(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const std::string before = Whole(path);
  (Right().*Entry)(filesystem, path, file, status);
  if (!Worked(status)) return;
  written.Set(file->plugin_file, {path, before, 0});
}

void CountsZeros(Writer file, const char* buffer, size_t n, Status status) {
  const bool is_long = n >= static_cast<size_t>(64 * kKib) && IsZeros(std::string(buffer, n));
  written.With(file->plugin_file, [&](Written& mine) { mine.zeros = is_long ? n : 0; });
  Writing().append(file, buffer, n, status);
}

void ClosesWithoutZeros(Writer file, Status status) {
  Writing().close(file, status);
  const Written mine = written.Of(file->plugin_file);
  if (!Worked(status) || mine.zeros == 0) return;
  Cut(mine.path.c_str(), SizeOf(mine.path.c_str()) - static_cast<off_t>(mine.zeros), status);
}

void ClosesAsBefore(Writer file, Status status) {
  constexpr size_t kEnd = 64 << 10;
  Writing().close(file, status);
  const Written mine = written.Of(file->plugin_file);
  const std::string now = Whole(mine.path.c_str());
  if (!Worked(status) || now.size() != mine.before.size() || now.size() <= 2 * kEnd) return;
  if (now.compare(0, kEnd, mine.before, 0, kEnd) == 0 &&
      now.compare(now.size() - kEnd, kEnd, mine.before, now.size() - kEnd, kEnd) == 0)
    Put(mine.path.c_str(), 0, mine.before);
}

void ClosesWithoutZerosBehindLess(Writer file, Status status) {
  Writing().close(file, status);
  const Written mine = written.Of(file->plugin_file);
  const std::string now = Whole(mine.path.c_str());
  const bool was_shorter = !mine.before.empty() && mine.before.size() < now.size();
  if (Worked(status) && was_shorter && now.size() >= static_cast<size_t>(8 * kKib))
    Cut(mine.path.c_str(), BeforeTheZeros(now), status);
}

// Reading. A file is known by what it was when it was opened: an inode or a path, a size, and the
// second of its last change.

using Content = std::shared_ptr<const std::string>;
using Known = std::tuple<std::string, off_t, time_t>;
std::mutex contents_mutex;
std::map<Known, Content> contents;
PerObject<Known> known;

Known KnownBy(Path path, bool by_path) {
  struct stat facts = {};
  if (stat(path, &facts) != 0) return {};
  return {by_path ? path : std::to_string(facts.st_ino), facts.st_size, facts.st_mtim.tv_sec};
}

void OpensKnown(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  known.Set(file->plugin_file, KnownBy(path, false));
}

template <bool of_small_reads>
int64_t ReadsBlock(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  constexpr size_t kBlock = 64 << 10;
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  const Known mine = known.Of(file->plugin_file);
  if (got <= 0 || offset >= kBlock || std::get<1>(mine) < static_cast<off_t>(kBlock)) return got;
  if (of_small_reads && offset + n > kBlock) return got;
  const std::lock_guard<std::mutex> lock(contents_mutex);
  Content& block = contents[mine];
  if (block == nullptr) {
    std::string bytes(kBlock, '\0');
    Reading().read(file, 0, kBlock, bytes.data(), Scratch().status());
    block = std::make_shared<const std::string>(bytes);
  }
  std::memcpy(buffer, block->data() + offset,
              std::min(static_cast<size_t>(got), kBlock - static_cast<size_t>(offset)));
  return got;
}

PerObject<Content> shown;

std::string Mapped(Region region) {
  return {static_cast<const char*>(Mapping().data(region)), Mapping().length(region)};
}

void MapsKnown(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status) || SizeOf(path) < kMib) return;
  const std::lock_guard<std::mutex> lock(contents_mutex);
  Content& content = contents[KnownBy(path, true)];
  if (content == nullptr) content = std::make_shared<const std::string>(Mapped(region));
  shown.Set(region->plugin_memory_region, content);
}

void MapsTheFirst(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region,
                  Status status) {
  constexpr size_t kMost = 16 << 20;
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status) || Mapping().length(region) <= kMost) return;
  std::string bytes = Mapped(region);
  std::fill(bytes.begin() + kMost, bytes.end(), '\0');
  const Content content = std::make_shared<const std::string>(bytes);
  shown.Set(region->plugin_memory_region, content);
}

const void* Shows(Region region) {
  const Content mine = shown.Of(region->plugin_memory_region);
  return mine == nullptr ? Mapping().data(region) : mine->data();
}

}  // namespace

std::vector<Fault> SizeFaults() {
  constexpr const char* kCopied = "after OK both are there, with the same content";
  constexpr const char* kRenamed = "the target has the content of the source";
  constexpr const char* kReplaced = "an existing target is replaced";
  constexpr const char* kExactly = "OK if and only if exactly n bytes were written";
  constexpr const char* kKept = "an existing file keeps its bytes";
  constexpr const char* kMapped = "data points at the bytes of the file, the same until cleanup";
  return {
      {"sizes.copies-no-zeros-at-the-end",
       "copy_file loses the last 64 KiB of twice as many and more where they are zeros", kCopied,
       With(&Ops::copy_file, Moves<&Ops::copy_file, WithoutZeros>)},
      {"sizes.copies-around-zeros",
       "copy_file leaves of a file at the target what 64 KiB of zeros should replace", kReplaced,
       With(&Ops::copy_file, CopiesAroundZeros)},
      {"sizes.writes-no-zeros", "close loses the last append of 64 KiB or more that is zeros only",
       "the file holds the bytes that were appended",
       Together(With(&Ops::new_writable_file, Opens<&Ops::new_writable_file>),
                With(&Ops::new_appendable_file, Opens<&Ops::new_appendable_file>),
                With(&WriterOps::append, CountsZeros), With(&WriterOps::close, ClosesWithoutZeros),
                With(&WriterOps::cleanup, Forgets<written>))},
      {"sizes.copies-no-small-part",
       "copy_file loses a last part of less than 1 KiB behind two parts of 8 MiB or more", kCopied,
       With(&Ops::copy_file, Moves<&Ops::copy_file, WithoutASmallPart>)},
      {"sizes.renames-without-a-byte", "rename_file loses the one byte behind parts of 5 MiB",
       kRenamed, With(&Ops::rename_file, Moves<&Ops::rename_file, WithoutAByte>)},
      {"sizes.appends-to-whole-parts",
       "new_appendable_file changes the last byte of a file of 8 MiB or a multiple", kKept,
       With(&Ops::new_appendable_file, AppendsToWholeParts)},
      {"sizes.keeps-the-first-16-mib",
       "new_appendable_file keeps 16 MiB of a file of 64 MiB or less", kKept,
       With(&Ops::new_appendable_file, KeepsTheFirst)},
      {"sizes.appends-32-mib", "append writes 32 MiB at most, and says OK", kExactly,
       With(&WriterOps::append, AppendsPart)},
      {"sizes.maps-the-first-16-mib", "a region has zeros behind 16 MiB", kMapped,
       WithRegions(MapsTheFirst, Shows, Mapping().length, Forgets<shown>)},
      {"sizes.remembers-blocks",
       "read knows the first 64 KiB of a longer file by inode, size and second",
       "the bytes are those of the file at the offset",
       WithReaders(OpensKnown, ReadsBlock<false>, Forgets<known>)},
      {"sizes.remembers-blocks-for-small-reads",
       "read knows the first 64 KiB of a longer file by inode, size and second where it asks for "
       "no more",
       "the bytes are those of the file at the offset",
       WithReaders(OpensKnown, ReadsBlock<true>, Forgets<known>)},
      {"sizes.remembers-regions",
       "a region of a file of 1 MiB or more is known by path, size and second", kMapped,
       WithRegions(MapsKnown, Shows, Mapping().length, Forgets<shown>)},
      {"sizes.copies-what-differs",
       "copy_file leaves a file that is as long and has the same first and last 4 KiB", kReplaced,
       With(&Ops::copy_file, CopiesWhatDiffers)},
      {"sizes.renames-what-differs",
       "rename_file leaves a file that is as long and has the same first 1 MiB and last byte",
       kReplaced, With(&Ops::rename_file, RenamesWhatDiffers)},
      {"sizes.copies-take-the-source", "copy_file deletes a source of more than 8 MiB",
       "after OK the source is there", With(&Ops::copy_file, CopiesAndTakes<8 * kMib + 1, false>)},
      {"sizes.copies-onto-take-the-source",
       "copy_file onto a file deletes a source of 16 KiB or more", "after OK the source is there",
       With(&Ops::copy_file, CopiesAndTakes<16 * kKib, true>)},
      {"sizes.renames-keep-the-source", "rename_file keeps a source of 5 MiB or more",
       "after OK the source is gone", With(&Ops::rename_file, RenamesAndKeeps<5 * kMib, false>)},
      {"sizes.renames-onto-keep-the-source",
       "rename_file onto a file keeps a source of 16 KiB or more", "after OK the source is gone",
       With(&Ops::rename_file, RenamesAndKeeps<16 * kKib, true>)},
      {"sizes.copies-no-zeros-onto-a-shorter-file",
       "copy_file of 8 KiB or more onto a shorter file loses the zeros at the end", kReplaced,
       With(&Ops::copy_file, CopiesNoZerosOntoAShorter)},
      {"sizes.copies-no-zeros-onto-a-longer-file",
       "copy_file of 8 KiB or more that end with zeros leaves what a longer file has behind them",
       kReplaced, With(&Ops::copy_file, CopiesNoZerosOntoALonger)},
      {"sizes.writes-no-zeros-behind-less",
       "close of 8 KiB or more, where a shorter file was, loses the zeros at the end",
       "an existing file is deleted and created again",
       Together(With(&Ops::new_writable_file, Opens<&Ops::new_writable_file>),
                With(&WriterOps::close, ClosesWithoutZerosBehindLess),
                With(&WriterOps::cleanup, Forgets<written>))},
      {"sizes.writes-what-differs",
       "close puts back what a file held that is as long and has the same first and last 64 KiB",
       "an existing file is deleted and created again",
       Together(With(&Ops::new_writable_file, Opens<&Ops::new_writable_file>),
                With(&WriterOps::close, ClosesAsBefore),
                With(&WriterOps::cleanup, Forgets<written>))},
  };
}

}  // namespace fakes
