// What belongs to the caller, and what several callers share.

#include <unistd.h>

#include <cstring>
#include <thread>

#include "faults.h"
#include "kernel.h"

namespace fakes {
namespace {

// A writer that keeps what it was handed: the path until the file is made, or the last buffer until
// the next call.
struct Keeper {
  const char* path = nullptr;
  const char* buffer = nullptr;
  size_t n = 0;
};
PerObject<Keeper> keepers;

void KeepsPath(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  // The file comes to be when something is appended; until then there is the name.
  Writing().cleanup(file);
  unlink(path);
  file->plugin_file = new const char*(path);
}

void AppendByPath(Writer file, const char* buffer, size_t n, Status status) {
  TF_WritableFile real{};
  Right().new_appendable_file(nullptr, *static_cast<const char**>(file->plugin_file), &real,
                              status);
  if (!Worked(status)) return;
  Writing().append(&real, buffer, n, status);
  Writing().cleanup(&real);
}

void NothingToDo(Writer, Status status) { TF_SetStatus(status, TF_OK, ""); }

void ForgetPath(TF_WritableFile* file) { delete static_cast<const char**>(file->plugin_file); }

void AppendKept(Writer file, Status status) {
  keepers.With(file->plugin_file, [&](Keeper& kept) {
    if (kept.buffer != nullptr) Writing().append(file, kept.buffer, kept.n, status);
    kept.buffer = nullptr;
    return 0;
  });
}

void KeepsBuffer(Writer file, const char* buffer, size_t n, Status status) {
  TF_SetStatus(status, TF_OK, "");
  AppendKept(file, status);
  keepers.With(file->plugin_file, [&](Keeper& kept) {
    kept.buffer = buffer;
    kept.n = n;
    return 0;
  });
}

template <void (*WriterOps::*op)(Writer, Status)>
void AfterKept(Writer file, Status status) {
  TF_SetStatus(status, TF_OK, "");
  AppendKept(file, status);
  (Writing().*op)(file, status);
}

Status kept_status = nullptr;

void KeepsStatus(Filesystem filesystem, Path path, Status status) {
  if (kept_status != nullptr) Become(kept_status, TF_UNKNOWN);
  Right().path_exists(filesystem, path, status);
  kept_status = status;
}

void ErrnoOfSuccess(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (Worked(status)) TF_SetStatusFromIOError(status, 0, path);
}

template <TF_Code code>
void AddsToOldStatus(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  const bool used = !Worked(status);
  Right().stat(filesystem, path, facts, status);
  if (used) Become(status, code);
}

// A name that several threads write into before it is used.
char shared_path[4096];

void SharedPath(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  std::strncpy(shared_path, path, sizeof shared_path - 1);
  std::this_thread::yield();
  Right().stat(filesystem, shared_path, facts, status);
}

// The bytes of a region are fetched again by whoever asks.
const void* fetched = nullptr;

const void* FetchesAgain(Region region) {
  fetched = Mapping().data(region);
  std::this_thread::yield();
  const void* mine = fetched;
  static int calls = 0;
  // Another thread came in between, or so it looks.
  return ++calls % 7 == 0 ? static_cast<const char*>(mine) + 1 : mine;
}

// Moves a file in two steps, with nothing in between.
void TwoSteps(Filesystem filesystem, Path source, Path target, Status status) {
  if (IsFile(source)) {
    if (IsFile(target)) unlink(target);
    std::this_thread::yield();
  }
  Right().rename_file(filesystem, source, target, status);
}

}  // namespace

std::vector<Fault> OwnershipFaults() {
  constexpr const char* kArguments = "the caller may overwrite arguments when the op is back";
  constexpr const char* kThreads = "several threads may do that at once";
  return {
      {"writable.keeps-path", "the path's pointer is kept, and used by append", kArguments,
       Together(With(&Ops::new_writable_file, KeepsPath), With(&WriterOps::append, AppendByPath),
                With(&WriterOps::flush, NothingToDo), With(&WriterOps::sync, NothingToDo),
                With(&WriterOps::close, NothingToDo), With(&WriterOps::cleanup, ForgetPath))},
      {"append.keeps-buffer", "the buffer's pointer is kept until the next call", kArguments,
       Together(With(&WriterOps::append, KeepsBuffer),
                With(&WriterOps::flush, AfterKept<&WriterOps::flush>),
                With(&WriterOps::sync, AfterKept<&WriterOps::sync>),
                With(&WriterOps::close, AfterKept<&WriterOps::close>),
                With(&WriterOps::cleanup, Forgets<keepers>))},
      {"path_exists.keeps-status", "the status of one call is written by the next",
       "a status is written during its call", With(&Ops::path_exists, KeepsStatus)},
      {"path_exists.errno-of-success", "a success is told as an I/O error of 0",
       "a status of OK has no message", With(&Ops::path_exists, ErrnoOfSuccess)},
      {"stat.adds-to-status", "a status that arrives with an error gets another one",
       "success is OK, or at most leaves the status alone",
       With(&Ops::stat, AddsToOldStatus<TF_ABORTED>)},
      {"stat.shared-path", "the path is copied into one buffer for all threads", kThreads,
       With(&Ops::stat, SharedPath)},
      {"region.fetches-again", "the address is kept in one place for all threads", kThreads,
       With(&RegionOps::data, FetchesAgain)},
      {"rename_file.two-steps", "the target is deleted before the source takes its place",
       "the old or the new file is there at any time", With(&Ops::rename_file, TwoSteps)},
  };
}

}  // namespace fakes
