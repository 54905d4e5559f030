// Writing.

#include <cstdint>
#include <cstring>
#include <string>

#include "faults.h"
#include "support/paths.h"
#include "waiting.h"

namespace fakes {
namespace {

// append

void Drops(Writer, const char*, size_t, Status status) { TF_SetStatus(status, TF_OK, ""); }

void Doubles(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, n, status);
  if (Worked(status)) Writing().append(file, buffer, n, status);
}

void TruncatesZero(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, strnlen(buffer, n), status);
}

void OneLess(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, n == 0 ? 0 : n - 1, status);
}

void EmptyIsInvalid(Writer file, const char* buffer, size_t n, Status status) {
  if (n == 0) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "nothing to append");
  Writing().append(file, buffer, n, status);
}

void TranslatesNewlines(Writer file, const char* buffer, size_t n, Status status) {
  std::string text;
  for (size_t k = 0; k < n; ++k) {
    if (buffer[k] == '\n') text += '\r';
    text += buffer[k];
  }
  Writing().append(file, text.data(), text.size(), status);
}

void WritesBuffer(Writer file, const char* buffer, size_t n, Status status) {
  Writing().append(file, buffer, n, status);
  if (n > 0) const_cast<char*>(buffer)[0] ^= 1;
}

// tell

struct Told {
  int64_t base = 0;   // where the file stood when it was opened
  int64_t calls = 0;  // of tell
};
PerObject<Told> told;

int64_t TellStuck(Writer, Status status) {
  TF_SetStatus(status, TF_OK, "");
  return 0;
}

int64_t TellFromHandle(Writer file, Status status) {
  const int64_t position = Writing().tell(file, status);
  return told.With(file->plugin_file, [&](const Told& now) { return position - now.base; });
}

int64_t TellMinusOne(Writer file, Status status) {
  Writing().tell(file, status);
  return -1;
}

int64_t TellAdvances(Writer file, Status status) {
  const int64_t position = Writing().tell(file, status);
  return told.With(file->plugin_file, [&](Told& now) { return position + now.calls++; });
}

void NewAppendableFromHandle(Filesystem filesystem, Path path, TF_WritableFile* file,
                             Status status) {
  Right().new_appendable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const int64_t base = Writing().tell(file, status);
  told.With(file->plugin_file, [&](Told& now) { now.base = base; });
}

// Data that waits is lost by one of the other ops.

template <auto Op>
void LoseWaiting(Writer file, Status status) {
  waiting_bytes.With(file->plugin_file, [](std::string& waiting) { waiting.clear(); });
  (Writing().*Op)(file, status);
}

// close

void CloseCleansUp(Writer file, Status status) {
  Writing().close(file, status);
  TF_WritableFile copy = *file;
  Writing().cleanup(&copy);
}

// opening

void ExistingIsError(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().path_exists(filesystem, path, status);
  if (Worked(status) && !Right().is_directory(filesystem, path, status))
    return TF_SetStatus(status, TF_ALREADY_EXISTS, path);
  Right().new_writable_file(filesystem, path, file, status);
}

void MissingIsError(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().path_exists(filesystem, path, status);
  if (!Worked(status)) return;
  Right().new_appendable_file(filesystem, path, file, status);
}

void MakesParents(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().recursively_create_dir(filesystem, support::ParentOf(path).c_str(), status);
  Right().new_writable_file(filesystem, path, file, status);
}

using Append = void (*)(Writer, const char*, size_t, Status);

Fault Appending(const char* name, const char* what, const char* breaks, Append append) {
  return {name, what, breaks, With(&WriterOps::append, append)};
}

}  // namespace

std::vector<Fault> WriteFaults() {
  constexpr const char* kOk = "OK if and only if exactly n bytes were written";
  constexpr const char* kBytes = "the file holds the bytes that were appended";
  constexpr const char* kTell = "tell gives the position in the file, and changes nothing";
  constexpr const char* kVisible = "a reader opened after a flush finds the data";
  return {
      Appending("append.drops", "writes nothing, and says OK", kOk, Drops),
      Appending("append.doubles", "writes everything twice", kOk, Doubles),
      Appending("append.truncates-zero", "stops at a zero byte, and says OK", kOk, TruncatesZero),
      Appending("append.one-less", "leaves out the last byte, and says OK", kOk, OneLess),
      Appending("append.empty-is-invalid", "0 bytes are INVALID_ARGUMENT",
                "an append of 0 bytes writes exactly 0 bytes", EmptyIsInvalid),
      Appending("append.translates-newlines", "writes a carriage return before a newline", kBytes,
                TranslatesNewlines),
      Appending("append.writes-buffer", "flips a bit of the buffer it gets const",
                "arguments belong to the caller", WritesBuffer),
      {"tell.stuck-at-zero", "always 0", kTell, With(&WriterOps::tell, TellStuck)},
      {"tell.from-handle", "an appendable file counts from where it was opened", kTell,
       Together(With(&WriterOps::tell, TellFromHandle), With(&WriterOps::cleanup, Forgets<told>),
                With(&Ops::new_appendable_file, NewAppendableFromHandle))},
      {"tell.minus-one", "gives -1 with OK", kTell, With(&WriterOps::tell, TellMinusOne)},
      {"tell.advances", "each call gives one more than the last", kTell,
       Together(With(&WriterOps::tell, TellAdvances), With(&WriterOps::cleanup, Forgets<told>))},
      {"flush.loses", "what was appended since the last flush is lost", kVisible,
       Together(LetWait, With(&WriterOps::flush, LoseWaiting<&WriterOps::flush>))},
      {"flush.holds", "what was appended shows only after a close", kVisible,
       Together(LetWait, With(&WriterOps::flush, Writing().flush))},
      {"sync.holds", "what was appended shows only after a flush or a close",
       "sync brings the data to its storage",
       Together(LetWait, With(&WriterOps::sync, Writing().sync))},
      {"close.loses", "what was appended since the last flush is lost", "close flushes everything",
       Together(LetWait, With(&WriterOps::close, LoseWaiting<&WriterOps::close>))},
      {"close.cleans-up", "frees the object, which cleanup will free again",
       "close leaves the cleanup to cleanup", With(&WriterOps::close, CloseCleansUp)},
      {"writable.no-truncate", "an existing file keeps its bytes, new ones go behind them",
       "an existing file is deleted and created again",
       With(&Ops::new_writable_file, Right().new_appendable_file)},
      {"writable.existing-is-error", "an existing file is ALREADY_EXISTS",
       "an existing file is deleted and created again",
       With(&Ops::new_writable_file, ExistingIsError)},
      {"writable.makes-parents", "creates the parents that are missing",
       "a missing parent is NOT_FOUND", With(&Ops::new_writable_file, MakesParents)},
      {"appendable.truncates", "an existing file is emptied", "an existing file keeps its bytes",
       With(&Ops::new_appendable_file, Right().new_writable_file)},
      {"appendable.missing-is-error", "a missing file is NOT_FOUND",
       "a missing file is created empty", With(&Ops::new_appendable_file, MissingIsError)},
  };
}

}  // namespace fakes
