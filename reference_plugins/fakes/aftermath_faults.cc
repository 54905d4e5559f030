// Faults of content that take several ops to show: what one op leaves behind meets a later one.

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "faults.h"
#include "kernel.h"

namespace fakes {
namespace {

// What was in a file, or how long it was, by its path.

std::mutex mutex;
std::map<std::string, std::string> contents;
std::map<std::string, off_t> lengths;
std::map<std::string, std::string> originals;  // by their copies

off_t LengthOf(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 ? facts.st_size : 0;
}

void Cut(const std::string& path, off_t length) {
  if (truncate(path.c_str(), length) != 0) return;
}

// A file that was deleted comes back when it is appended to.

void DeletesButKeeps(Filesystem filesystem, Path path, Status status) {
  const std::string content = Whole(path);
  Right().delete_file(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status)) contents[path] = content;
}

void AppendsToTheKept(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const bool is_missing = access(path, F_OK) != 0;
  Right().new_appendable_file(filesystem, path, file, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status) && is_missing) std::ofstream(path, std::ios::app) << contents[path];
}

// A copy has what the file had before it was opened to be appended to.

void NewWriterHasNoLength(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status)) lengths.erase(path);
}

void AppenderHasALength(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const bool is_there = access(path, F_OK) == 0;
  const off_t length = LengthOf(path);
  Right().new_appendable_file(filesystem, path, file, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status) && is_there) lengths[path] = length;
}

void CopiesTheLength(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = lengths.find(source);
  if (Worked(status) && known != lengths.end()) Cut(target, known->second);
}

// A copy is made when somebody reads it, and its original may be elsewhere then.

void CopiesLater(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status) && std::string(source) != target) originals[target] = source;
}

void RenamesTheOriginal(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [copy, original] : originals)
    if (original == source && copy != target) Cut(copy, 0);
}

void ReadsTheCopy(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  const std::lock_guard<std::mutex> lock(mutex);
  originals.erase(path);
}

// What is deleted takes something else along in what the plugin remembers.

std::set<std::string> hidden;

void DeletesTheOriginalToo(Filesystem filesystem, Path path, Status status) {
  Right().delete_file(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto original = originals.find(path);
  if (!Worked(status) || original == originals.end()) return;
  hidden.insert(original->second);
  originals.erase(original);
}

int64_t SizeUnlessHidden(Filesystem filesystem, Path path, Status status) {
  const int64_t size = Right().get_file_size(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (!Worked(status) || hidden.count(path) == 0) return size;
  TF_SetStatus(status, TF_NOT_FOUND, path);
  return -1;
}

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

void DeletesBesideDirectories(Filesystem filesystem, Path path, Status status) {
  Right().delete_file(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (Worked(status)) hidden.insert(ParentOf(path));
}

bool IsDirectoryUnlessHidden(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(mutex);
  if (!is_directory || hidden.count(ParentOf(path)) == 0 || std::filesystem::is_empty(path))
    return is_directory;
  TF_SetStatus(status, TF_FAILED_PRECONDITION, path);
  return false;
}

// An op on one path disturbs what is open on another.

std::atomic<int> disturbances = 0;
PerObject<int> calm_until;

void DeletesAndDisturbs(Filesystem filesystem, Path path, Status status) {
  Right().delete_file(filesystem, path, status);
  if (Worked(status)) ++disturbances;
}

void NewReaderIsCalm(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (Worked(status)) calm_until.Set(file->plugin_file, disturbances);
}

int64_t ReadsUnlessDisturbed(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int then = calm_until.Of(file->plugin_file);
  if (then == disturbances) return Reading().read(file, offset, n, buffer, status);
  TF_SetStatus(status, n == 0 ? TF_OK : TF_OUT_OF_RANGE, "");
  return 0;
}

// What is appended and neither flushed nor closed when a directory is made.
struct Unflushed {
  std::string path;
  bool any = false;
  int then = 0;
  off_t length = 0;
};
PerObject<Unflushed> unflushed;

void CreatesAndDisturbs(Filesystem filesystem, Path path, Status status) {
  Right().create_dir(filesystem, path, status);
  if (Worked(status)) ++disturbances;
}

void NewWriterIsFlushed(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (Worked(status))
    unflushed.With(file->plugin_file, [&](Unflushed& one) { return (one = {path}).any; });
}

void Appends(Writer file, const char* buffer, size_t n, Status status) {
  unflushed.With(file->plugin_file, [&](Unflushed& one) {
    if (!one.any) one = {one.path, true, disturbances, LengthOf(one.path)};
    return true;
  });
  Writing().append(file, buffer, n, status);
}

template <auto Entry>
void BringsAll(Writer file, Status status) {
  (Writing().*Entry)(file, status);
  unflushed.With(file->plugin_file, [](Unflushed& one) { one.any = false; });
}

void ClosesUnlessDisturbed(Writer file, Status status) {
  Writing().close(file, status);
  const Unflushed left = unflushed.Of(file->plugin_file);
  if (left.any && left.then != disturbances && !left.path.empty()) Cut(left.path, left.length);
}

}  // namespace

std::vector<Fault> AftermathFaults() {
  return {
      {"history.append-revives",
       "a file that was deleted has its content again when it is appended to",
       "a missing file is made empty",
       Together(With(&Ops::delete_file, DeletesButKeeps),
                With(&Ops::new_appendable_file, AppendsToTheKept))},
      {"history.copies-before-append", "a copy lacks what was appended after the file was closed",
       "a copy has the content of its source",
       Together(With(&Ops::new_writable_file, NewWriterHasNoLength),
                With(&Ops::new_appendable_file, AppenderHasALength),
                With(&Ops::copy_file, CopiesTheLength))},
      {"history.copies-later", "a copy that was not read yet is empty when its original is renamed",
       "a copy is a file of its own",
       Together(With(&Ops::copy_file, CopiesLater), With(&Ops::rename_file, RenamesTheOriginal),
                With(&Ops::new_random_access_file, ReadsTheCopy))},
      {"history.copy-takes-its-original",
       "get_file_size does not find a file whose copy was deleted", "a copy is a file of its own",
       Together(With(&Ops::copy_file, CopiesLater), With(&Ops::delete_file, DeletesTheOriginalToo),
                With(&Ops::get_file_size, SizeUnlessHidden))},
      {"history.delete-hides-directories",
       "is_directory denies a directory with something in it, beside which a file was deleted",
       "what is deleted changes nothing else",
       Together(With(&Ops::delete_file, DeletesBesideDirectories),
                With(&Ops::is_directory, IsDirectoryUnlessHidden))},
      {"history.delete-ends-readers", "an open reader is at its end when another file is deleted",
       "an open file is left alone by ops on others",
       Together(With(&Ops::delete_file, DeletesAndDisturbs),
                With(&Ops::new_random_access_file, NewReaderIsCalm),
                With(ReaderOps{Forgets<calm_until>, ReadsUnlessDisturbed}))},
      {"history.create-drops-appends",
       "what was appended and not flushed is lost when a directory is made before close",
       "close keeps what was appended",
       Together(With(&Ops::create_dir, CreatesAndDisturbs),
                With(&Ops::new_writable_file, NewWriterIsFlushed),
                With(&WriterOps::append, Appends),
                With(&WriterOps::flush, BringsAll<&WriterOps::flush>),
                With(&WriterOps::sync, BringsAll<&WriterOps::sync>),
                With(&WriterOps::close, ClosesUnlessDisturbed),
                With(&WriterOps::cleanup, Forgets<unflushed>))},
  };
}

}  // namespace fakes
