// Reading.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faults.h"

namespace fakes {
namespace {

using File = const TF_RandomAccessFile*;

int64_t Right(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  return Real().random_access_file.read(file, offset, n, buffer, status);
}

bool AtEnd(TF_Status* status) { return TF_GetCode(status) == TF_OUT_OF_RANGE; }

void Become(TF_Status* status, TF_Code code) { TF_SetStatus(status, code, "the fault says so"); }

int64_t ClaimsFull(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (!AtEnd(status)) return got;
  Become(status, TF_OK);
  return static_cast<int64_t>(n);
}

int64_t ShortIsOk(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (AtEnd(status)) Become(status, TF_OK);
  return got;
}

int64_t OneLess(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  return TF_GetCode(status) == TF_OK && got > 0 ? got - 1 : got;
}

// What Linux reads in one call at most.
constexpr size_t kMostAtOnce = 0x7ffff000;

int64_t OneCallOfTheSystem(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  return Right(file, offset, std::min(n, kMostAtOnce), buffer, status);
}

int64_t Overrun(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  buffer[n] = '\0';
  return got;
}

int64_t Garbage(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (got > 0) buffer[got / 2] ^= 1;
  return got;
}

int64_t ErrorReturnsPartial(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (AtEnd(status)) Become(status, TF_INTERNAL);
  return got;
}

int64_t EndReturnsMinusOne(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  return AtEnd(status) ? -1 : got;
}

int64_t ExactEndIsOutOfRange(File file, uint64_t offset, size_t n, char* buffer,
                             TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (TF_GetCode(status) != TF_OK || n == 0) return got;
  char next;
  Right(file, offset + n, 1, &next, status);
  return got;
}

int64_t EmptyIsOutOfRange(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  if (n > 0) return Right(file, offset, n, buffer, status);
  Become(status, TF_OUT_OF_RANGE);
  return 0;
}

PerObject<std::optional<uint64_t>> cursors;

int64_t MovesCursor(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  return cursors.With(file->plugin_file, [&](std::optional<uint64_t>& cursor) {
    const uint64_t at = cursor.value_or(offset);
    const int64_t got = Right(file, at, n, buffer, status);
    cursor = at + static_cast<uint64_t>(std::max<int64_t>(got, 0));
    return got;
  });
}

void ForgetCursor(TF_RandomAccessFile* file) {
  cursors.Forget(file->plugin_file);
  Real().random_access_file.cleanup(file);
}

int64_t TruncatesOffset(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  return Right(file, offset & UINT32_MAX, n, buffer, status);
}

int64_t HugeOffsetIsInvalid(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  if (offset <= INT64_MAX) return Right(file, offset, n, buffer, status);
  Become(status, TF_INVALID_ARGUMENT);
  return -1;
}

int64_t CapsLength(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  constexpr size_t kCap = size_t{64} << 10;
  const int64_t got = Right(file, offset, std::min(n, kCap), buffer, status);
  if (TF_GetCode(status) == TF_OK && n > kCap) Become(status, TF_OUT_OF_RANGE);
  return got;
}

int64_t StopsAtZero(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  const int64_t got = Right(file, offset, n, buffer, status);
  if (got <= 0) return got;
  const size_t length = strnlen(buffer, static_cast<size_t>(got));
  std::memset(buffer + length, 0, static_cast<size_t>(got) - length);
  return got;
}

// The bytes rest in one place for all threads, and a second thread may come by meanwhile. Each byte
// is handed over whole, so that it is the answer that is wrong and not the memory.
int64_t SharedBuffer(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  static char shared[4096];
  const int64_t got = Right(file, offset, n, buffer, status);
  const size_t length = std::min(static_cast<size_t>(std::max<int64_t>(got, 0)), sizeof(shared));
  for (size_t k = 0; k < length; ++k) __atomic_store_n(&shared[k], buffer[k], __ATOMIC_RELAXED);
  for (int turn = 0; turn < 10; ++turn) std::this_thread::yield();
  for (size_t k = 0; k < length; ++k) buffer[k] = __atomic_load_n(&shared[k], __ATOMIC_RELAXED);
  return got;
}

void Directory(const TF_Filesystem* filesystem, const char* path, TF_RandomAccessFile* file,
               TF_Status* status) {
  Real().filesystem.new_random_access_file(filesystem, path, file, status);
  if (TF_GetCode(status) == TF_FAILED_PRECONDITION &&
      Real().filesystem.is_directory(filesystem, path, status)) {
    // What a plain open(2) gives: an object on which nothing can be read.
    Real().filesystem.new_random_access_file(filesystem, "/dev/null", file, status);
  }
}

using Read = int64_t (*)(File, uint64_t, size_t, char*, TF_Status*);

Fault Reading(const char* name, const char* what, const char* breaks, Read read) {
  return {name, what, breaks, [read](support::Tables& t) { t.random_access_file.read = read; }};
}

int64_t NothingIsInvalid(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  if (n != 0) return Right(file, offset, n, buffer, status);
  Become(status, TF_INVALID_ARGUMENT);
  return -1;
}

int64_t InvalidReturnsMore(File file, uint64_t offset, size_t n, char* buffer, TF_Status* status) {
  if (offset <= INT64_MAX) return Right(file, offset, n, buffer, status);
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
      Reading("read.claims-full", "a short read is reported as OK with n", kOk, ClaimsFull),
      Reading("read.short-is-ok", "a short read is reported as OK with its count", kOk, ShortIsOk),
      Reading("read.one-less", "a full read is reported as one byte less, with OK", kOk, OneLess),
      Reading("read.one-call", "a read of more than 2 GiB gives what one call of the system gives",
              kOk, OneCallOfTheSystem),
      Reading("read.overrun", "writes a zero byte behind the n bytes",
              "the buffer has n bytes and no more", Overrun),
      Reading("read.garbage", "flips a bit in the middle", kBytes, Garbage),
      Reading("read.error-returns-partial",
              "a read that meets the end answers INTERNAL with the partial count",
              "an error other than the end gives -1", ErrorReturnsPartial),
      Reading("read.end-returns-minus-one", "a read that meets the end gives -1", kEnd,
              EndReturnsMinusOne),
      Reading("read.exact-end-is-out-of-range",
              "a read that ends where the file ends is OUT_OF_RANGE", kEnd, ExactEndIsOutOfRange),
      Reading("read.empty-is-out-of-range", "a read of 0 bytes is OUT_OF_RANGE", kOk,
              EmptyIsOutOfRange),
      {"read.moves-cursor", "reads go on where the last one ended, whatever the offset says",
       kBytes,
       [](support::Tables& t) {
         t.random_access_file.read = MovesCursor;
         t.random_access_file.cleanup = ForgetCursor;
       }},
      Reading("read.truncates-offset-32", "offsets lose all but 32 bits", kBytes, TruncatesOffset),
      Reading("read.huge-offset-is-invalid",
              "offsets of 2^63 and more are INVALID_ARGUMENT with -1", kEnd, HugeOffsetIsInvalid),
      Reading("read.caps-length", "no read gives more than 64 KiB; the rest is OUT_OF_RANGE", kEnd,
              CapsLength),
      Reading("read.stops-at-zero", "bytes behind a zero byte are zero", kBytes, StopsAtZero),
      Reading("read.shared-buffer", "reads that happen at once mix up their bytes",
              "read is thread safe", SharedBuffer),
      Reading("read.nothing-is-invalid", "a read of 0 bytes is INVALID_ARGUMENT", kOk,
              NothingIsInvalid),
      Reading("read.invalid-returns-more",
              "offsets of 2^63 and more are INVALID_ARGUMENT with more than n", kEnd,
              InvalidReturnsMore),
      {"new_random_access_file.opens-directory", "a directory opens as an empty file",
       "a directory is FAILED_PRECONDITION",
       [](support::Tables& t) { t.filesystem.new_random_access_file = Directory; }},
  };
}

}  // namespace fakes
