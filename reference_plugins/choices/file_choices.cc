// Open files: when what is written comes to be seen, and what reads at the edges answer.

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "choices.h"
#include "support/paths.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetErrno;
using support::SetError;
using support::SetOk;

// How files are written: these are set before the first op.
struct Writing {
  bool buffers = false;             // bytes wait for flush, sync or close
  bool creates_late = false;        // and so does the file itself
  bool counts_from_handle = false;  // positions start at 0 for each handle
} writing;

// The ops of posix, which do the work in the end.
const support::Tables& Posix() {
  static const support::Tables tables = posix::AllTables();
  return tables;
}

// A file to write: what is not handed over yet, and the file of posix behind it.
struct Writer {
  std::string path;
  bool appends = false;
  bool is_open = false;  // whether there is a file of posix
  TF_WritableFile file{};
  std::string waiting;
  int64_t position = 0;
};

Writer* Get(const TF_WritableFile* file) { return static_cast<Writer*>(file->plugin_file); }

void OpenNow(Writer* writer, Status status) {
  if (writer->is_open) return SetOk(status);
  const auto& ops = Posix().filesystem;
  (writer->appends ? ops.new_appendable_file : ops.new_writable_file)(nullptr, writer->path.c_str(),
                                                                      &writer->file, status);
  writer->is_open = TF_GetCode(status) == TF_OK;
}

// A status for an op whose answer nobody hears.
std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)> Unheard() {
  return {TF_NewStatus(), TF_DeleteStatus};
}

int64_t Position(const Writer* writer) {
  return Posix().writable_file.tell(&writer->file, Unheard().get());
}

// Hands over what waits. What the file does not take goes on waiting, and nothing else does: bytes
// that were taken must not come twice.
void HandOver(Writer* writer, Status status) {
  OpenNow(writer, status);
  if (TF_GetCode(status) != TF_OK || writer->waiting.empty()) return;
  const int64_t before = Position(writer);
  Posix().writable_file.append(&writer->file, writer->waiting.data(), writer->waiting.size(),
                               status);
  if (TF_GetCode(status) == TF_OK) return writer->waiting.clear();
  writer->waiting.erase(0, static_cast<size_t>(Position(writer) - before));
}

// Answers as open would, and leaves everything as it is. Gives the size of the file, or 0.
int64_t CheckOnly(Path path, Status status) {
  struct stat facts;
  if (stat(path, &facts) == 0) {
    SetErrno(status, S_ISDIR(facts.st_mode) ? EISDIR : 0, path);
    return facts.st_size;
  }
  int error = errno;
  // What is missing can be made where its directory is.
  if (error == ENOENT && *path != '\0') {
    const bool there = stat(support::ParentOf(path).c_str(), &facts) == 0;
    error = !there ? errno : S_ISDIR(facts.st_mode) ? 0 : ENOTDIR;
  }
  SetErrno(status, error, path);
  return 0;
}

void Open(Path path, bool appends, TF_WritableFile* file, Status status) {
  support::Guarded(status, path, [&] {
    auto writer = std::make_unique<Writer>();
    writer->path = path;
    writer->appends = appends;
    const int64_t size = CheckOnly(path, status);
    if (TF_GetCode(status) != TF_OK) return;
    if (!writing.creates_late) OpenNow(writer.get(), status);
    if (TF_GetCode(status) != TF_OK) return;
    if (appends && !writing.counts_from_handle) writer->position = size;
    file->plugin_file = writer.release();
  });
}

template <bool appends>
void New(Filesystem, Path path, TF_WritableFile* file, Status status) noexcept {
  Open(path, appends, file, status);
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, Status status) noexcept {
  Writer* writer = Get(file);
  support::Guarded(status, writer->path.c_str(), [&] {
    writer->waiting.append(buffer, n);
    writer->position += static_cast<int64_t>(n);
    SetOk(status);
    if (writing.buffers) return;
    HandOver(writer, status);
    // What was refused is the caller's again.
    writer->position -= static_cast<int64_t>(writer->waiting.size());
    writer->waiting.clear();
  });
}

int64_t Tell(const TF_WritableFile* file, Status status) noexcept {
  SetOk(status);
  return Get(file)->position;
}

template <void (*WriterOps::*op)(const TF_WritableFile*, Status)>
void AfterHandingOver(const TF_WritableFile* file, Status status) noexcept {
  Writer* writer = Get(file);
  HandOver(writer, status);
  if (TF_GetCode(status) == TF_OK) (Posix().writable_file.*op)(&writer->file, status);
}

// The file is closed in any case, and what could not be handed over is lost; the answer says so.
void Close(const TF_WritableFile* file, Status status) noexcept {
  Writer* writer = Get(file);
  HandOver(writer, status);
  // Nothing waits any more; clear() would keep the memory until the cleanup.
  std::string().swap(writer->waiting);
  if (!writer->is_open) return;
  const bool complete = TF_GetCode(status) == TF_OK;
  Posix().writable_file.close(&writer->file, complete ? status : Unheard().get());
}

// What was not handed over is dropped: nobody closed the file.
void Cleanup(TF_WritableFile* file) noexcept {
  const std::unique_ptr<Writer> writer(Get(file));
  if (writer->is_open) Posix().writable_file.cleanup(&writer->file);
  file->plugin_file = nullptr;
}

void UseWriters(support::Tables& tables) {
  tables.filesystem.new_writable_file = New<false>;
  tables.filesystem.new_appendable_file = New<true>;
  tables.writable_file.cleanup = Cleanup;
  tables.writable_file.append = Append;
  tables.writable_file.tell = Tell;
  tables.writable_file.flush = AfterHandingOver<&WriterOps::flush>;
  tables.writable_file.sync = AfterHandingOver<&WriterOps::sync>;
  tables.writable_file.close = Close;
}

void LateVisibility(support::Tables& tables) {
  writing.buffers = true;
  UseWriters(tables);
}

void LateCreation(support::Tables& tables) {
  writing.buffers = true;
  writing.creates_late = true;
  UseWriters(tables);
}

void TellFromHandle(support::Tables& tables) {
  writing.counts_from_handle = true;
  UseWriters(tables);
}

int64_t ZeroReadIsOutOfRange(const TF_RandomAccessFile* file, uint64_t offset, size_t n,
                             char* buffer, Status status) noexcept {
  if (n != 0) return before<ZeroReadIsOutOfRange>(file, offset, n, buffer, status);
  char byte;
  return std::min<int64_t>(0, before<ZeroReadIsOutOfRange>(file, offset, 1, &byte, status));
}

int64_t HugeOffsetIsInvalid(const TF_RandomAccessFile* file, uint64_t offset, size_t n,
                            char* buffer, Status status) noexcept {
  if (offset <= INT64_MAX) return before<HugeOffsetIsInvalid>(file, offset, n, buffer, status);
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "no file has that offset");
  return -1;
}

}  // namespace

std::vector<Choice> FileChoices() {
  return {
      {"late-visibility",
       "when appended bytes are seen (A6), and what cleanup without close keeps (A15)",
       "at flush, sync and close; nothing", LateVisibility},
      {"late-creation",
       "when a new file is seen (A6), and what one that is replaced holds until then",
       "at the first flush, sync or close; its old content", LateCreation},
      {"tell-from-handle", "what tell counts on an appendable file (A7)",
       "the bytes of this handle", TellFromHandle},
      {"zero-read-out-of-range", "what reading 0 bytes at the end answers (A8)", "OUT_OF_RANGE",
       Take<&ReaderOps::read, ZeroReadIsOutOfRange>},
      {"huge-offset-is-invalid", "what reading at 2^63 and behind answers",
       "INVALID_ARGUMENT and -1", Take<&ReaderOps::read, HugeOffsetIsInvalid>},
  };
}

}  // namespace choices
