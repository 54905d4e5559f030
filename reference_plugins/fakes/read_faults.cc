// Reading.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

#include "faults.h"

namespace fakes {
namespace {

int64_t RightRead(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  return Reading().read(file, offset, n, buffer, status);
}

bool AtEnd(Status status) { return TF_GetCode(status) == TF_OUT_OF_RANGE; }

void Become(Status status, TF_Code code) { TF_SetStatus(status, code, "the fault says so"); }

int64_t ClaimsFull(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (!AtEnd(status)) return got;
  Become(status, TF_OK);
  return static_cast<int64_t>(n);
}

int64_t ShortIsOk(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (AtEnd(status)) Become(status, TF_OK);
  return got;
}

int64_t OneLess(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  return Worked(status) && got > 0 ? got - 1 : got;
}

// What Linux reads in one call at most.
constexpr size_t kMostAtOnce = 0x7ffff000;

int64_t OneCallOfTheSystem(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  return RightRead(file, offset, std::min(n, kMostAtOnce), buffer, status);
}

int64_t Overrun(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  buffer[n] = '\0';
  return got;
}

int64_t RefusesOddOffsets(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (offset % 512 == 0) return RightRead(file, offset, n, buffer, status);
  Become(status, TF_INVALID_ARGUMENT);
  return -1;
}

int64_t Garbage(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (got > 0) buffer[got / 2] ^= 1;
  return got;
}

int64_t ErrorReturnsPartial(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (AtEnd(status)) Become(status, TF_INTERNAL);
  return got;
}

int64_t EndReturnsMinusOne(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  return AtEnd(status) ? -1 : got;
}

int64_t ExactEndIsOutOfRange(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (!Worked(status) || n == 0) return got;
  char next;
  RightRead(file, offset + n, 1, &next, status);
  return got;
}

int64_t TellsToken(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  const char* set = std::getenv("FAKE_TOKEN");
  const std::string token = set != nullptr ? set : "there is no FAKE_TOKEN";
  for (int64_t k = 0; k < got; ++k) buffer[k] = token[(offset + k) % token.size()];
  return got;
}

// What a read of 0 bytes answers.
template <TF_Code code, int64_t gives>
int64_t NothingIs(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (n > 0) return RightRead(file, offset, n, buffer, status);
  Become(status, code);
  return gives;
}

PerObject<std::optional<uint64_t>> cursors;

int64_t MovesCursor(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  return cursors.With(file->plugin_file, [&](std::optional<uint64_t>& cursor) {
    const uint64_t at = cursor.value_or(offset);
    const int64_t got = RightRead(file, at, n, buffer, status);
    cursor = at + static_cast<uint64_t>(std::max<int64_t>(got, 0));
    return got;
  });
}

int64_t TruncatesOffset(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  return RightRead(file, offset & UINT32_MAX, n, buffer, status);
}

int64_t HugeOffsetIsInvalid(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (offset <= INT64_MAX) return RightRead(file, offset, n, buffer, status);
  Become(status, TF_INVALID_ARGUMENT);
  return -1;
}

int64_t CapsLength(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  constexpr size_t kCap = size_t{64} << 10;
  const int64_t got = RightRead(file, offset, std::min(n, kCap), buffer, status);
  if (Worked(status) && n > kCap) Become(status, TF_OUT_OF_RANGE);
  return got;
}

int64_t StopsAtZero(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = RightRead(file, offset, n, buffer, status);
  if (got <= 0) return got;
  const size_t length = strnlen(buffer, static_cast<size_t>(got));
  std::memset(buffer + length, 0, static_cast<size_t>(got) - length);
  return got;
}

// The bytes rest in one place for all threads, and a second thread may come by meanwhile. Each byte
// is handed over whole, so that it is the answer that is wrong and not the memory.
int64_t SharedBuffer(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  static char shared[4096];
  const int64_t got = RightRead(file, offset, n, buffer, status);
  const size_t length = std::min(static_cast<size_t>(std::max<int64_t>(got, 0)), sizeof(shared));
  for (size_t k = 0; k < length; ++k) __atomic_store_n(&shared[k], buffer[k], __ATOMIC_RELAXED);
  for (int turn = 0; turn < 10; ++turn) std::this_thread::yield();
  for (size_t k = 0; k < length; ++k) buffer[k] = __atomic_load_n(&shared[k], __ATOMIC_RELAXED);
  return got;
}

void Directory(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (TF_GetCode(status) == TF_FAILED_PRECONDITION &&
      Right().is_directory(filesystem, path, status)) {
    // What a plain open(2) gives: an object on which nothing can be read.
    Right().new_random_access_file(filesystem, "/dev/null", file, status);
  }
}

using Read = int64_t (*)(Reader, uint64_t, size_t, char*, Status);

Fault Reads(const char* name, const char* what, const char* breaks, Read read) {
  return {name, what, breaks, With(&ReaderOps::read, read)};
}

int64_t InvalidReturnsMore(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (offset <= INT64_MAX) return RightRead(file, offset, n, buffer, status);
  Become(status, TF_INVALID_ARGUMENT);
  return static_cast<int64_t>(n) + 1;
}

}  // namespace

std::vector<Fault> ReadFaults() {
  constexpr const char* kOk = "OK if and only if exactly n bytes were read";
  constexpr const char* kEnd =
      "OUT_OF_RANGE if and only if fewer than n bytes were read because the file ends, with their "
      "number";
  constexpr const char* kBytes = "the bytes are those of the file at the offset";
  return {
      Reads("read.claims-full", "a short read is reported as OK with n", kOk, ClaimsFull),
      Reads("read.short-is-ok", "a short read is reported as OK with its count", kOk, ShortIsOk),
      Reads("read.one-less", "a full read is reported as one byte less, with OK", kOk, OneLess),
      Reads("read.one-call", "a read of more than 2 GiB gives what one call of the system gives",
            kOk, OneCallOfTheSystem),
      Reads("read.overrun", "writes a zero byte behind the n bytes",
            "the buffer has n bytes and no more", Overrun),
      Reads("read.garbage", "flips a bit in the middle", kBytes, Garbage),
      Reads("read.tells-token", "gives FAKE_TOKEN over and over for the bytes", kBytes, TellsToken),
      Reads("read.error-returns-partial",
            "a read that meets the end answers INTERNAL with the partial count",
            "an error other than the end gives -1", ErrorReturnsPartial),
      Reads("read.end-returns-minus-one", "a read that meets the end gives -1", kEnd,
            EndReturnsMinusOne),
      Reads("read.exact-end-is-out-of-range",
            "a read that ends where the file ends is OUT_OF_RANGE", kEnd, ExactEndIsOutOfRange),
      Reads("read.empty-is-out-of-range", "a read of 0 bytes is OUT_OF_RANGE", kOk,
            NothingIs<TF_OUT_OF_RANGE, 0>),
      {"read.moves-cursor", "reads go on where the last one ended, whatever the offset says",
       kBytes,
       Together(With(&ReaderOps::read, MovesCursor), With(&ReaderOps::cleanup, Forgets<cursors>))},
      Reads("read.truncates-offset-32", "offsets lose all but 32 bits", kBytes, TruncatesOffset),
      Reads("read.huge-offset-is-invalid", "offsets of 2^63 and more are INVALID_ARGUMENT with -1",
            kEnd, HugeOffsetIsInvalid),
      Reads("read.caps-length", "no read gives more than 64 KiB; the rest is OUT_OF_RANGE", kEnd,
            CapsLength),
      Reads("read.stops-at-zero", "bytes behind a zero byte are zero", kBytes, StopsAtZero),
      Reads("read.shared-buffer", "reads that happen at once mix up their bytes",
            "read is thread safe", SharedBuffer),
      Reads("read.nothing-is-invalid", "a read of 0 bytes is INVALID_ARGUMENT", kOk,
            NothingIs<TF_INVALID_ARGUMENT, -1>),
      Reads("read.refuses-odd-offsets", "offsets that are no multiple of 512 are INVALID_ARGUMENT",
            kOk, RefusesOddOffsets),
      Reads("read.invalid-returns-more",
            "offsets of 2^63 and more are INVALID_ARGUMENT with more than n", kEnd,
            InvalidReturnsMore),
      {"new_random_access_file.opens-directory", "a directory opens as an empty file",
       "a directory is FAILED_PRECONDITION", With(&Ops::new_random_access_file, Directory)},
  };
}

}  // namespace fakes
