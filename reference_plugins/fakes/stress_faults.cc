// Files that are right in the plainest use, and wrong beyond it: after an error, with much data,
// late in a file's life, in another thread.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "support/paths.h"
#include "waiting.h"

namespace fakes {
namespace {

// Small pieces wait for a flush; large ones go to the file at once, and so pass them.

constexpr size_t kLarge = size_t{64} << 10;

void Overtakes(Writer file, const char* buffer, size_t n, Status status) {
  (n >= kLarge ? Writing().append : AppendWaiting)(file, buffer, n, status);
}

int64_t TellsIn32Bits(Writer file, Status status) {
  return static_cast<int32_t>(Writing().tell(file, status));
}

// What could not be appended is appended again before the next piece, though a part of it is there.

PerObject<std::string> refused;

void TriesAgain(Writer file, const char* buffer, size_t n, Status status) {
  std::string again;
  refused.With(file->plugin_file, [&](std::string& text) { again.swap(text); });
  again.append(buffer, n);
  Writing().append(file, again.data(), again.size(), status);
  if (!Worked(status))
    refused.With(file->plugin_file, [&](std::string& text) { text.swap(again); });
}

// One error, and no file can be written any more.

std::mutex error_mutex;
TF_Code error_code = TF_OK;

void RemembersErrors(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, n, status);
  const std::lock_guard<std::mutex> lock(error_mutex);
  if (!Worked(status)) error_code = TF_GetCode(status);
  if (error_code != TF_OK) TF_SetStatus(status, error_code, "an error of some file");
}

// A file that is missing is made by the first append.

PerObject<std::string> late;

void AppendsLater(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().path_exists(filesystem, path, Scratch().status());
  const Scratch asked;
  Right().path_exists(filesystem, path, asked.status());
  Right().new_appendable_file(filesystem, path, file, status);
  if (!Worked(status) || TF_GetCode(asked.status()) != TF_NOT_FOUND) return;
  // The object works on a file without a name until something is appended.
  const std::string hidden = std::string(path) + ".hidden";
  rename(path, hidden.c_str());
  late.Set(file->plugin_file, path);
}

void AppendsAndNames(Writer file, const char* buffer, size_t n, Status status) {
  std::string path;
  late.With(file->plugin_file, [&](std::string& mine) { path.swap(mine); });
  if (!path.empty()) rename((path + ".hidden").c_str(), path.c_str());
  Writing().append(file, buffer, n, status);
}

void ForgetsLate(TF_WritableFile* file) {
  std::string path;
  late.With(file->plugin_file, [&](std::string& mine) { path.swap(mine); });
  if (!path.empty()) unlink((path + ".hidden").c_str());
  Forgets<late>(file);
}

// The descriptor is closed by close, and its number once more by cleanup, whoever has it by then.

PerObject<int> numbers;

void ClosesNumber(Writer file, Status status) {
  Writing().close(file, status);
  // The lowest number that is free is the one that was just given back.
  const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(number);
  numbers.Set(file->plugin_file, number);
}

void ClosesNumberAgain(TF_WritableFile* file) {
  const int number = numbers.Of(file->plugin_file);
  if (number != 0) close(number);
  Forgets<numbers>(file);
}

// Appended bytes are kept until the cleanup.

PerObject<std::string> kept;

void Keeps(Writer file, const char* buffer, size_t n, Status status) {
  kept.With(file->plugin_file, [&](std::string& all) { all.append(buffer, n); });
  Writing().append(file, buffer, n, status);
}

// A file can be written by the thread that opened it only.

PerObject<std::thread::id> owners;

void Owns(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  owners.Set(file->plugin_file, std::this_thread::get_id());
}

void AppendsInOneThread(Writer file, const char* buffer, size_t n, Status status) {
  const auto owner = owners.Of(file->plugin_file);
  if (owner != std::thread::id() && owner != std::this_thread::get_id())
    return TF_SetStatus(status, TF_FAILED_PRECONDITION, "another thread opened the file");
  Writing().append(file, buffer, n, status);
}

// Reading

int64_t EveryErrorIsTheEnd(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (Worked(status) || TF_GetCode(status) == TF_OUT_OF_RANGE) return got;
  TF_SetStatus(status, TF_OUT_OF_RANGE, "no more bytes");
  return std::max<int64_t>(got, 0);
}

// Copying and renaming

// Whether a file can be written over the target, which is none yet or another file.
bool FitsOver(Path source, Path target) {
  struct stat from, to;
  return stat(source, &from) == 0 && S_ISREG(from.st_mode) &&
         (stat(target, &to) != 0 || (S_ISREG(to.st_mode) && to.st_ino != from.st_ino));
}

// Writes into the target itself, so that an error leaves a part of the source there.
void CopiesInPlace(Filesystem filesystem, Path source, Path target, Status status) {
  if (!FitsOver(source, target)) return Right().copy_file(filesystem, source, target, status);
  TF_WritableFile file = {nullptr};
  Right().new_writable_file(filesystem, target, &file, status);
  if (!Worked(status)) return;
  std::vector<char> buffer(16 << 10);
  const int descriptor = open(source, O_RDONLY | O_CLOEXEC);
  for (ssize_t got; Worked(status) && (got = read(descriptor, buffer.data(), buffer.size())) > 0;)
    Writing().append(&file, buffer.data(), static_cast<size_t>(got), status);
  close(descriptor);
  Writing().cleanup(&file);
}

// A copy and a deletion, with the target out of the way first.
void RenamesByCopy(Filesystem filesystem, Path source, Path target, Status status) {
  if (!FitsOver(source, target)) return Right().rename_file(filesystem, source, target, status);
  unlink(target);
  Right().copy_file(filesystem, source, target, status);
  if (Worked(status)) Right().delete_file(filesystem, source, status);
}

// Nothing is at the target for some microseconds, in which nobody is invited to look.
void UnlinksFirst(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(target) && FitsOver(source, target)) unlink(target);
  Right().rename_file(filesystem, source, target, status);
}

void CopiesOnlySmall(Filesystem filesystem, Path source, Path target, Status status) {
  if (SizeOf(source) > static_cast<off_t>(kLarge))
    return TF_SetStatus(status, TF_INTERNAL, "too much for one request");
  Right().copy_file(filesystem, source, target, status);
}

// The number of bytes is kept in 31 bits, so of a longer file the beginning is copied.
void CopiesIn31Bits(Filesystem filesystem, Path source, Path target, Status status) {
  const off_t size = SizeOf(source);
  if (size <= INT32_MAX) return Right().copy_file(filesystem, source, target, status);
  const int descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool done = descriptor >= 0 && ftruncate(descriptor, size & INT32_MAX) == 0;
  TF_SetStatus(status, done ? TF_OK : TF_INTERNAL, "");
  close(descriptor);
}

void RenamesOnlyBeside(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(source) && support::ParentOf(source) != support::ParentOf(target) &&
      IsDirectory(filesystem, support::ParentOf(target)))
    return TF_SetStatus(status, TF_INTERNAL, "another directory");
  Right().rename_file(filesystem, source, target, status);
}

// Looks whether a directory is there, and takes for its own what another thread made since.
void ChecksThenActs(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  const bool missing = TF_GetCode(status) == TF_NOT_FOUND;
  Right().create_dir(filesystem, path, status);
  if (missing && TF_GetCode(status) == TF_ALREADY_EXISTS) TF_SetStatus(status, TF_OK, "");
}

// Asking

void TimeIsNow(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  Right().stat(filesystem, path, facts, status);
  if (!Worked(status)) return;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  facts->mtime_nsec = int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

void LeavesStatus(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  const TF_Code before = TF_GetCode(status);
  const std::string message = TF_Message(status);
  Right().stat(filesystem, path, facts, status);
  if (Worked(status) && before != TF_OK) TF_SetStatus(status, before, message.c_str());
}

}  // namespace

std::vector<Fault> StressFaults() {
  constexpr const char* kOrder = "the file holds what was appended, in order, and once";
  constexpr const char* kUnchanged = "on an error, source and target are as before";
  constexpr const char* kWorks = "an op works for every file, not for the plainest one";
  constexpr const char* kClose = "close gives back what the file holds";
  return {
      {"append.large-overtakes", "pieces of 64 KiB and more pass smaller ones that wait", kOrder,
       Together(LetWait, With(&WriterOps::append, Overtakes))},
      {"tell.only-32-bits", "loses all but 32 bits, the highest for the sign",
       "tell gives the position in the file, however long it is",
       With(&WriterOps::tell, TellsIn32Bits)},
      {"append.tries-again", "what was refused in part is appended again, all of it", kOrder,
       With(&WriterOps::append, TriesAgain)},
      {"append.remembers-errors", "after one error no file can be appended to",
       "an op that succeeds says OK, whatever failed before",
       With(&WriterOps::append, RemembersErrors)},
      {"appendable.made-by-the-first-append", "a missing file is made by the first append only",
       "a missing file is created empty",
       Together(With(&Ops::new_appendable_file, AppendsLater),
                With(&WriterOps::append, AppendsAndNames), With(&WriterOps::cleanup, ForgetsLate))},
      {"close.closes-twice", "cleanup closes the number again that close has given back",
       "close leaves nothing for cleanup to close",
       Together(With(&WriterOps::close, ClosesNumber),
                With(&WriterOps::cleanup, ClosesNumberAgain))},
      {"close.only-flushes", "the descriptor is closed by cleanup", kClose,
       With(&WriterOps::close, Writing().flush)},
      {"close.keeps-the-buffer", "all that was appended stays in memory until cleanup", kClose,
       Together(With(&WriterOps::append, Keeps), With(&WriterOps::cleanup, Forgets<kept>))},
      {"append.one-thread", "only the thread that opened a file may append to it",
       "a file is used by one thread at a time, and not always by the same",
       Together(With(&Ops::new_writable_file, Owns), With(&WriterOps::append, AppendsInOneThread),
                With(&WriterOps::cleanup, Forgets<owners>))},
      {"read.every-error-is-the-end", "an error of the system is OUT_OF_RANGE",
       "OUT_OF_RANGE is for the end of the file", With(&ReaderOps::read, EveryErrorIsTheEnd)},
      {"copy_file.in-place", "the target is emptied and written, whether that works or not",
       kUnchanged, With(&Ops::copy_file, CopiesInPlace)},
      {"rename_file.by-copy", "deletes the target, copies, and deletes the source", kUnchanged,
       With(&Ops::rename_file, RenamesByCopy)},
      {"rename_file.unlinks-first", "deletes the target, and then renames",
       "the old or the new file is there at any time", With(&Ops::rename_file, UnlinksFirst)},
      {"copy_file.only-small", "files of more than 64 KiB are INTERNAL", kWorks,
       With(&Ops::copy_file, CopiesOnlySmall)},
      {"copy_file.only-31-bits", "of 2 GiB and more it copies what 31 bits count",
       "after OK both are there, with the same content", With(&Ops::copy_file, CopiesIn31Bits)},
      {"rename_file.only-beside", "a target in another directory is INTERNAL", kWorks,
       With(&Ops::rename_file, RenamesOnlyBeside)},
      {"create_dir.checks-then-acts",
       "what another thread creates after the look counts as created, without a pause between",
       "of several threads that do the same one succeeds", With(&Ops::create_dir, ChecksThenActs)},
      {"stat.time-is-now", "the time of modification is the time of the question",
       "what nobody modifies keeps its time", With(&Ops::stat, TimeIsNow)},
      {"stat.leaves-status", "success leaves a status that says an error",
       "success sets the status to OK", With(&Ops::stat, LeavesStatus)},
  };
}

}  // namespace fakes
