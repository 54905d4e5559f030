// Writing.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "faults.h"
#include "support/paths.h"

namespace fakes {
namespace {

using File = const TF_WritableFile*;

const TF_WritableFileOps& Writer() { return Real().writable_file; }

// append

void Drops(File, const char*, size_t, TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

void Doubles(File file, const char* buffer, size_t n, TF_Status* status) {
  Writer().append(file, buffer, n, status);
  if (TF_GetCode(status) == TF_OK) Writer().append(file, buffer, n, status);
}

void TruncatesZero(File file, const char* buffer, size_t n, TF_Status* status) {
  Writer().append(file, buffer, strnlen(buffer, n), status);
}

void OneLess(File file, const char* buffer, size_t n, TF_Status* status) {
  Writer().append(file, buffer, n == 0 ? 0 : n - 1, status);
}

void EmptyIsInvalid(File file, const char* buffer, size_t n, TF_Status* status) {
  if (n == 0) return TF_SetStatus(status, TF_INVALID_ARGUMENT, "nothing to append");
  Writer().append(file, buffer, n, status);
}

void TranslatesNewlines(File file, const char* buffer, size_t n, TF_Status* status) {
  std::string text;
  for (size_t k = 0; k < n; ++k) {
    if (buffer[k] == '\n') text += '\r';
    text += buffer[k];
  }
  Writer().append(file, text.data(), text.size(), status);
}

void WritesBuffer(File file, const char* buffer, size_t n, TF_Status* status) {
  Writer().append(file, buffer, n, status);
  if (n > 0) const_cast<char*>(buffer)[0] ^= 1;
}

// tell

struct Told {
  int64_t base = 0;   // where the file stood when it was opened
  int64_t calls = 0;  // of tell
};
PerObject<Told> told;

int64_t TellStuck(File, TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
  return 0;
}

int64_t TellFromHandle(File file, TF_Status* status) {
  const int64_t position = Writer().tell(file, status);
  return told.With(file->plugin_file, [&](const Told& now) { return position - now.base; });
}

int64_t TellMinusOne(File file, TF_Status* status) {
  Writer().tell(file, status);
  return -1;
}

int64_t TellAdvances(File file, TF_Status* status) {
  const int64_t position = Writer().tell(file, status);
  return told.With(file->plugin_file, [&](Told& now) { return position + now.calls++; });
}

void NewAppendableFromHandle(const TF_Filesystem* filesystem, const char* path,
                             TF_WritableFile* file, TF_Status* status) {
  Real().filesystem.new_appendable_file(filesystem, path, file, status);
  if (TF_GetCode(status) != TF_OK) return;
  const int64_t base = Writer().tell(file, status);
  told.With(file->plugin_file, [&](Told& now) { now.base = base; });
}

void ForgetTold(TF_WritableFile* file) {
  told.Forget(file->plugin_file);
  Writer().cleanup(file);
}

// Data that waits: append holds it back, until one of the other ops brings it home or loses it.

PerObject<std::string> held;

void Hold(File file, const char* buffer, size_t n, TF_Status* status) {
  held.With(file->plugin_file, [&](std::string& waiting) { waiting.append(buffer, n); });
  TF_SetStatus(status, TF_OK, "");
}

int64_t TellHeld(File file, TF_Status* status) {
  const int64_t position = Writer().tell(file, status);
  if (position < 0) return position;
  return position + held.With(file->plugin_file, [](const std::string& waiting) {
    return static_cast<int64_t>(waiting.size());
  });
}

template <auto Op>
void BringHeld(File file, TF_Status* status) {
  std::string waiting;
  held.With(file->plugin_file, [&](std::string& text) { waiting.swap(text); });
  Writer().append(file, waiting.data(), waiting.size(), status);
  if (TF_GetCode(status) == TF_OK) (Writer().*Op)(file, status);
}

template <auto Op>
void LoseHeld(File file, TF_Status* status) {
  held.With(file->plugin_file, [](std::string& waiting) { waiting.clear(); });
  (Writer().*Op)(file, status);
}

void ForgetHeld(TF_WritableFile* file) {
  held.Forget(file->plugin_file);
  Writer().cleanup(file);
}

void HoldBack(support::Tables& t) {
  t.writable_file.append = Hold;
  t.writable_file.tell = TellHeld;
  t.writable_file.flush = BringHeld<&TF_WritableFileOps::flush>;
  t.writable_file.sync = BringHeld<&TF_WritableFileOps::sync>;
  t.writable_file.close = BringHeld<&TF_WritableFileOps::close>;
  t.writable_file.cleanup = ForgetHeld;
}

// close

void CloseCleansUp(File file, TF_Status* status) {
  Writer().close(file, status);
  TF_WritableFile copy = *file;
  Writer().cleanup(&copy);
}

// opening

void ExistingIsError(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) {
  Real().filesystem.path_exists(filesystem, path, status);
  if (TF_GetCode(status) == TF_OK && !Real().filesystem.is_directory(filesystem, path, status)) {
    return TF_SetStatus(status, TF_ALREADY_EXISTS, path);
  }
  Real().filesystem.new_writable_file(filesystem, path, file, status);
}

void MissingIsError(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                    TF_Status* status) {
  Real().filesystem.path_exists(filesystem, path, status);
  if (TF_GetCode(status) != TF_OK) return;
  Real().filesystem.new_appendable_file(filesystem, path, file, status);
}

void MakesParents(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                  TF_Status* status) {
  Real().filesystem.recursively_create_dir(filesystem, support::ParentOf(path).c_str(), status);
  Real().filesystem.new_writable_file(filesystem, path, file, status);
}

using Append = void (*)(File, const char*, size_t, TF_Status*);

Fault Appending(const char* name, const char* what, const char* breaks, Append append) {
  return {name, what, breaks, [append](support::Tables& t) { t.writable_file.append = append; }};
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
      {"tell.stuck-at-zero", "always 0", kTell,
       [](support::Tables& t) { t.writable_file.tell = TellStuck; }},
      {"tell.from-handle", "an appendable file counts from where it was opened", kTell,
       [](support::Tables& t) {
         t.writable_file.tell = TellFromHandle;
         t.writable_file.cleanup = ForgetTold;
         t.filesystem.new_appendable_file = NewAppendableFromHandle;
       }},
      {"tell.minus-one", "gives -1 with OK", kTell,
       [](support::Tables& t) { t.writable_file.tell = TellMinusOne; }},
      {"tell.advances", "each call gives one more than the last", kTell,
       [](support::Tables& t) {
         t.writable_file.tell = TellAdvances;
         t.writable_file.cleanup = ForgetTold;
       }},
      {"flush.loses", "what was appended since the last flush is lost", kVisible,
       [](support::Tables& t) {
         HoldBack(t);
         t.writable_file.flush = LoseHeld<&TF_WritableFileOps::flush>;
       }},
      {"flush.holds", "what was appended shows only after a close", kVisible,
       [](support::Tables& t) {
         HoldBack(t);
         t.writable_file.flush = Writer().flush;
       }},
      {"sync.holds", "what was appended shows only after a flush or a close",
       "sync brings the data to its storage",
       [](support::Tables& t) {
         HoldBack(t);
         t.writable_file.sync = Writer().sync;
       }},
      {"close.loses", "what was appended since the last flush is lost", "close flushes everything",
       [](support::Tables& t) {
         HoldBack(t);
         t.writable_file.close = LoseHeld<&TF_WritableFileOps::close>;
       }},
      {"close.cleans-up", "frees the object, which cleanup will free again",
       "close leaves the cleanup to cleanup",
       [](support::Tables& t) { t.writable_file.close = CloseCleansUp; }},
      {"writable.no-truncate", "an existing file keeps its bytes, new ones go behind them",
       "an existing file is deleted and created again",
       [](support::Tables& t) {
         t.filesystem.new_writable_file = Real().filesystem.new_appendable_file;
       }},
      {"writable.existing-is-error", "an existing file is ALREADY_EXISTS",
       "an existing file is deleted and created again",
       [](support::Tables& t) { t.filesystem.new_writable_file = ExistingIsError; }},
      {"writable.makes-parents", "creates the parents that are missing",
       "a missing parent is NOT_FOUND",
       [](support::Tables& t) { t.filesystem.new_writable_file = MakesParents; }},
      {"appendable.truncates", "an existing file is emptied", "an existing file keeps its bytes",
       [](support::Tables& t) {
         t.filesystem.new_appendable_file = Real().filesystem.new_writable_file;
       }},
      {"appendable.missing-is-error", "a missing file is NOT_FOUND",
       "a missing file is created empty",
       [](support::Tables& t) { t.filesystem.new_appendable_file = MissingIsError; }},
  };
}

}  // namespace fakes
