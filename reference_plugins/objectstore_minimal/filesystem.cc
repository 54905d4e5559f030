// A filesystem over a flat set of keys: every op, in requests to a bucket. A directory is there
// where an object is called `<path>/` (its marker) or begins so; nobody looks whether a parent is
// there. Nothing can be appended, and an object is seen when its file is closed, all of it. To
// rename is to copy and to delete.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "bucket.h"
#include "support/memory.h"
#include "support/registration.h"
#include "support/status.h"

namespace objectstore_minimal {
namespace {

// --- How every op answers

// Performs `op` and gives what it gives: OK where it comes back, and where it throws, `failed` and
// the code of what was thrown.
template <typename Result, typename Op>
Result Perform(TF_Status* status, const char* path, Result failed, Op op) noexcept {
  return support::Guarded(status, path, failed, [&] {
    try {
      Result result = op();
      support::SetOk(status);
      return result;
    } catch (const Failure& failure) {
      support::SetError(status, failure.code, path, failure.what());
    } catch (const std::system_error& error) {
      support::SetErrno(status, error.code().value(), path);
    }
    return failed;
  });
}

template <typename Op>
void Perform(TF_Status* status, const char* path, Op op) noexcept {
  Perform(status, path, 0, [&op] { return op(), 0; });
}

// --- What is at a path

using Shared = std::shared_ptr<const Bucket>;

const Shared& BucketOf(const TF_Filesystem* filesystem) {
  return *static_cast<Shared*>(filesystem->plugin_filesystem);
}

enum class Kind { kNothing, kFile, kDirectory, kAny };

struct Place {
  const Bucket& bucket;
  std::string key;
  std::string marker;  // what the keys in this directory begin with
  Kind kind = Kind::kDirectory;
  Facts facts;  // of a file
};

// What ops get is an absolute path; no key begins with a slash. Refuses what is not `wanted`.
Place Find(const TF_Filesystem* filesystem, const char* path, Kind wanted = Kind::kAny) {
  const std::string key = path[0] == '/' ? path + 1 : path;
  Place place{*BucketOf(filesystem), key, key.empty() ? "" : key + "/", Kind::kDirectory, {}};
  if (key.size() >= kLongestKey) Refuse(ENAMETOOLONG);  // with the slash of a marker
  if (const auto facts = key.empty() ? std::nullopt : place.bucket.Head(key)) {
    place.kind = Kind::kFile;
    place.facts = *facts;
  } else if (!key.empty() && place.bucket.List(place.marker, 1).empty()) {
    place.kind = Kind::kNothing;
  }
  if (wanted == Kind::kAny || place.kind == wanted) return place;
  Refuse(place.kind == Kind::kNothing ? ENOENT : wanted == Kind::kFile ? EISDIR : ENOTDIR);
}

// --- Files

// What is written is in `content` until the file is closed. What is read is one object, the one
// that was there when the file was opened: `facts` tell which.
struct File {
  Shared bucket;
  std::string path, key;
  Facts facts;
  std::optional<std::string> content;  // nothing once closed
};

template <typename Handle>
File* Get(const Handle* file) {
  return static_cast<File*>(file->plugin_file);
}

template <typename Handle>
void CleanupFile(Handle* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

std::string& Open(const TF_WritableFile* file) {
  if (!Get(file)->content) Refuse(EBADF);  // to put it once more would be to put nothing
  return *Get(file)->content;
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  Perform(status, Get(file)->path.c_str(), [&] { Open(file).append(buffer, n); });
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  return Perform(status, Get(file)->path.c_str(), int64_t{-1},
                 [&] { return static_cast<int64_t>(Open(file).size()); });
}

// Nothing can be handed over before the whole is known.
void Flush(const TF_WritableFile* file, TF_Status* status) noexcept { Tell(file, status); }

void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  File& self = *Get(file);
  Perform(status, self.path.c_str(), [&] {
    self.bucket->Put(self.key, Open(file));
    self.content.reset();
  });
}

TF_WritableFileOps WritableFileOps() {
  TF_WritableFileOps ops = {};
  ops.cleanup = CleanupFile;
  ops.append = Append;
  ops.tell = Tell;
  ops.flush = Flush;
  ops.sync = Flush;
  ops.close = Close;
  return ops;
}

// Each read is a request of its own: no more is in memory than was asked for.
int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) noexcept {
  const File& self = *Get(file);
  const uint64_t left = self.facts.size - std::min(offset, self.facts.size);
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(n, left));
  const int64_t count = Perform(status, self.path.c_str(), int64_t{-1}, [&] {
    if (wanted != 0) {
      const std::string content = self.bucket->Get(self.key, self.facts, offset, wanted);
      std::memcpy(buffer, content.data(), wanted);
    }
    return static_cast<int64_t>(wanted);
  });
  // The bytes in front of the end count, and the code tells the reader to stop.
  if (count >= 0 && wanted < n) {
    support::SetError(status, TF_OUT_OF_RANGE, self.path.c_str(), "the object ends before that");
  }
  return count;
}

TF_RandomAccessFileOps RandomAccessFileOps() {
  TF_RandomAccessFileOps ops = {};
  ops.cleanup = CleanupFile;
  ops.read = Read;
  return ops;
}

void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path);
    if (place.kind == Kind::kDirectory) Refuse(EISDIR);
    file->plugin_file = new File{BucketOf(filesystem), path, place.key, {}, ""};
  });
}

void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path, Kind::kFile);
    file->plugin_file = new File{BucketOf(filesystem), path, place.key, place.facts, ""};
  });
}

// --- A whole object in memory

std::string* Get(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<std::string*>(region->plugin_memory_region);
}

void CleanupRegion(TF_ReadOnlyMemoryRegion* region) noexcept {
  delete Get(region);
  region->plugin_memory_region = nullptr;
}

const void* Data(const TF_ReadOnlyMemoryRegion* region) noexcept { return Get(region)->data(); }

uint64_t Length(const TF_ReadOnlyMemoryRegion* region) noexcept { return Get(region)->size(); }

TF_ReadOnlyMemoryRegionOps MemoryRegionOps() {
  TF_ReadOnlyMemoryRegionOps ops = {};
  ops.cleanup = CleanupRegion;
  ops.data = Data;
  ops.length = Length;
  return ops;
}

void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path, Kind::kFile);
    if (place.facts.size == 0) Refuse(EINVAL);  // TensorFlow has no region of no bytes
    region->plugin_memory_region = new std::string(
        place.bucket.Get(place.key, place.facts, 0, static_cast<size_t>(place.facts.size)));
  });
}

// --- Directories

void CreateDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path);
    if (place.kind != Kind::kNothing) Refuse(EEXIST);
    place.bucket.Put(place.marker, "");
  });
}

void RecursivelyCreateDir(const TF_Filesystem* filesystem, const char* path,
                          TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path);
    if (place.kind == Kind::kFile) Refuse(ENOTDIR);
    if (place.kind == Kind::kNothing) place.bucket.Put(place.marker, "");
  });
}

void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path, Kind::kDirectory);
    for (const std::string& inside : place.bucket.List(place.marker, 2)) {
      if (inside != place.marker) Refuse(ENOTEMPTY);
    }
    place.bucket.Delete(place.marker);
  });
}

void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path);
    if (place.kind == Kind::kNothing) Refuse(ENOENT);
    std::set<std::string> keys = place.bucket.List(place.marker);
    if (place.kind == Kind::kFile) keys.insert(place.key);
    *undeleted_dirs = 0;
    std::exception_ptr first;
    for (const std::string& inside : keys) {
      try {
        place.bucket.Delete(inside);
      } catch (const std::runtime_error& error) {
        const auto* known = dynamic_cast<const std::system_error*>(&error);
        if (known != nullptr && known->code().value() == ENOENT) continue;  // somebody else did
        ++*(inside.back() == '/' ? undeleted_dirs : undeleted_files);
        if (first == nullptr) first = std::current_exception();
      }
    }
    if (first != nullptr) std::rethrow_exception(first);
  });
}

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept {
  return Perform(status, path, -1, [&] {
    const Place place = Find(filesystem, path, Kind::kDirectory);
    std::set<std::string> names;
    for (const std::string& inside : place.bucket.List(place.marker)) {
      const size_t start = place.marker.size();
      const std::string name = inside.substr(start, inside.find('/', start) - start);
      if (!name.empty() && name != "." && name != "..") names.insert(name);
    }
    return support::CopyNames({names.begin(), names.end()}, entries);
  });
}

// --- Objects by name

void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path, Kind::kFile);
    place.bucket.Delete(place.key);
  });
}

// To itself, nothing goes.
void Copy(const TF_Filesystem* filesystem, const char* source, const char* target, bool moves) {
  const Place from = Find(filesystem, source, Kind::kFile), to = Find(filesystem, target);
  if (to.kind == Kind::kDirectory) Refuse(EISDIR);
  if (from.key == to.key) return;
  from.bucket.Copy(from.key, to.key);
  if (moves) from.bucket.Delete(from.key);
}

void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept {
  Perform(status, source, [&] { Copy(filesystem, source, target, false); });
}

void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept {
  Perform(status, source, [&] { Copy(filesystem, source, target, true); });
}

void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  Perform(status, path, [&] {
    if (Find(filesystem, path).kind == Kind::kNothing) Refuse(ENOENT);
  });
}

void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  Perform(status, path, [&] {
    const Place place = Find(filesystem, path);
    if (place.kind == Kind::kNothing) Refuse(ENOENT);
    statistics->length = static_cast<int64_t>(place.facts.size);
    statistics->mtime_nsec = place.facts.mtime_nsec;
    statistics->is_directory = place.kind == Kind::kDirectory;
    if (statistics->is_directory && !place.marker.empty()) {
      // A directory that only names suggest has no time.
      statistics->mtime_nsec = place.bucket.Head(place.marker).value_or(Facts{}).mtime_nsec;
    }
  });
}

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  filesystem->plugin_filesystem = nullptr;
  Perform(status, "objects", [&] { filesystem->plugin_filesystem = new Shared(OpenBucket()); });
}

void Cleanup(TF_Filesystem* filesystem) noexcept {
  delete static_cast<Shared*>(filesystem->plugin_filesystem);
  filesystem->plugin_filesystem = nullptr;
}

// What stays NULL is core's, which makes it of these.
TF_FilesystemOps FilesystemOps() {
  TF_FilesystemOps ops = {};
  ops.init = Init;
  ops.cleanup = Cleanup;
  ops.new_random_access_file = NewRandomAccessFile;
  ops.new_writable_file = NewWritableFile;
  ops.new_read_only_memory_region_from_file = NewMemoryRegion;
  ops.create_dir = CreateDir;
  ops.recursively_create_dir = RecursivelyCreateDir;
  ops.delete_file = DeleteFile;
  ops.delete_dir = DeleteDir;
  ops.delete_recursively = DeleteRecursively;
  ops.rename_file = RenameFile;
  ops.copy_file = CopyFile;
  ops.path_exists = PathExists;
  ops.stat = Stat;
  ops.get_children = GetChildren;
  return ops;
}

}  // namespace
}  // namespace objectstore_minimal

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  support::Tables tables;
  tables.filesystem = objectstore_minimal::FilesystemOps();
  tables.random_access_file = objectstore_minimal::RandomAccessFileOps();
  tables.writable_file = objectstore_minimal::WritableFileOps();
  tables.memory_region = objectstore_minimal::MemoryRegionOps();
  const char* directories = std::getenv("TFFS_DIRECTORIES");
  if (directories != nullptr) {
    decltype(tables.filesystem.create_dir) op = nullptr;
    if (std::strcmp(directories, "nothing") == 0)
      op = [](const TF_Filesystem*, const char*, TF_Status* status) { support::SetOk(status); };
    tables.filesystem.create_dir = op;
    tables.filesystem.recursively_create_dir = op;
    tables.filesystem.delete_dir = op;
  }
  support::Register("objects", tables, info);
}
