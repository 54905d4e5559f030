// A plugin for a store of objects, and what such a plugin gives up. It is right as far as a flat
// set of keys allows:
//
// - directories are emulated: one is there where an object is called `<path>/` (its marker) or
// begins so. Nobody looks whether a
//   parent is there, or whether it is a file;
// - nothing can be appended to an object;
// - an object is seen when its file is closed, and then all of it;
// - renaming removes the target, copies, and removes the source, which others can see.
//
// With TFFS_DIRECTORIES=none in the environment it has no op that makes or deletes a directory.

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "bucket.h"
#include "posix/files.h"
#include "posix/tables.h"
#include "support/memory.h"
#include "support/status.h"

namespace object_store {
namespace {

using support::Guarded;
using support::SetErrno;
using support::SetError;
using support::SetOk;

enum class Kind { kNothing, kFile, kDirectory };

// What ops get is an absolute path; no key begins with a slash.
std::string KeyOf(const char* path) { return path[0] == '/' ? path + 1 : path; }

std::string MarkerOf(const std::string& key) { return key.empty() ? "" : key + "/"; }

Kind KindOf(const std::string& key) {
  struct stat facts;
  if (key.empty()) return Kind::kDirectory;
  if (Head(key, &facts)) return Kind::kFile;
  if (Head(MarkerOf(key), &facts) || !List(MarkerOf(key)).empty()) return Kind::kDirectory;
  return Kind::kNothing;
}

// Refuses what cannot be the key of an object, or the marker of a directory.
bool TooLong(const std::string& key, const char* path, TF_Status* status) {
  if (key.size() < kLongestKey) return false;
  SetErrno(status, ENAMETOOLONG, path);
  return true;
}

// Whether there is a file; sets the status where there is none.
bool IsFile(const std::string& key, const char* path, TF_Status* status) {
  if (TooLong(key, path, status)) return false;
  const Kind kind = KindOf(key);
  if (kind != Kind::kFile) SetErrno(status, kind == Kind::kNothing ? ENOENT : EISDIR, path);
  return kind == Kind::kFile;
}

// OK, or the code of an errno value.
void Answer(int error, const char* path, TF_Status* status) {
  if (error == 0) return SetOk(status);
  // No room is no room, whatever the limit: EFBIG would become OUT_OF_RANGE.
  if (error == EFBIG) return SetError(status, TF_RESOURCE_EXHAUSTED, path, std::strerror(error));
  SetErrno(status, error, path);
}

// Files that are written
// ----------------------------------------------------------------------------------------------------

struct Upload {
  std::string path;
  std::string content;
};

Upload* Get(const TF_WritableFile* file) { return static_cast<Upload*>(file->plugin_file); }

void CleanupUpload(TF_WritableFile* file) noexcept {
  delete Get(file);
  file->plugin_file = nullptr;
}

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  Guarded(status, Get(file)->path.c_str(), [&] {
    Get(file)->content.append(buffer, n);
    SetOk(status);
  });
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  SetOk(status);
  return static_cast<int64_t>(Get(file)->content.size());
}

// Nothing can be handed over before the whole is known.
void Flush(const TF_WritableFile*, TF_Status* status) noexcept { SetOk(status); }

void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  Upload* upload = Get(file);
  const char* path = upload->path.c_str();
  Guarded(status, path, [&] {
    Answer(Put(KeyOf(path), upload->content), path, status);
    std::string().swap(upload->content);
  });
}

TF_WritableFileOps UploadOps() {
  TF_WritableFileOps ops = {};
  ops.cleanup = CleanupUpload;
  ops.append = Append;
  ops.tell = Tell;
  ops.flush = Flush;
  ops.sync = Flush;
  ops.close = Close;
  return ops;
}

void NewWritableFile(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (TooLong(key, path, status)) return;
    if (KindOf(key) == Kind::kDirectory) return SetErrno(status, EISDIR, path);
    auto upload = std::make_unique<Upload>();
    upload->path = path;
    file->plugin_file = upload.release();
    SetOk(status);
  });
}

// Files that are read: an object never changes, so its local file will do
// ------------------------------------------------------

void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (IsFile(key, path, status))
      posix::NewRandomAccessFile(filesystem, FileOf(key).c_str(), file, status);
  });
}

void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (IsFile(key, path, status))
      posix::NewMemoryRegion(filesystem, FileOf(key).c_str(), region, status);
  });
}

// Directories
// -----------------------------------------------------------------------------------------------------------------

void CreateDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (TooLong(key, path, status)) return;
    if (KindOf(key) != Kind::kNothing) return SetErrno(status, EEXIST, path);
    Answer(Put(MarkerOf(key), ""), path, status);
  });
}

void RecursivelyCreateDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (TooLong(key, path, status)) return;
    const Kind kind = KindOf(key);
    if (kind == Kind::kFile) return SetErrno(status, ENOTDIR, path);
    Answer(kind == Kind::kDirectory ? 0 : Put(MarkerOf(key), ""), path, status);
  });
}

void DeleteDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path), marker = MarkerOf(key);
    if (TooLong(key, path, status)) return;
    const Kind kind = KindOf(key);
    if (kind != Kind::kDirectory)
      return SetErrno(status, kind == Kind::kFile ? ENOTDIR : ENOENT, path);
    for (const std::string& inside : List(marker)) {
      if (inside != marker) return SetErrno(status, ENOTEMPTY, path);
    }
    Answer(Delete(marker), path, status);
  });
}

void DeleteRecursively(const TF_Filesystem*, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (TooLong(key, path, status)) return;
    const Kind kind = KindOf(key);
    if (kind == Kind::kNothing) return SetErrno(status, ENOENT, path);
    *undeleted_dirs = 0;
    int first = 0;
    for (const std::string& inside :
         kind == Kind::kFile ? std::set<std::string>{key} : List(MarkerOf(key))) {
      const int error = Delete(inside);
      if (error == 0 || error == ENOENT) continue;
      ++*(inside.back() == '/' ? undeleted_dirs : undeleted_files);
      if (first == 0) first = error;
    }
    Answer(first, path, status);
  });
}

int GetChildren(const TF_Filesystem*, const char* path, char*** entries,
                TF_Status* status) noexcept {
  return Guarded(status, path, -1, [&] {
    const std::string key = KeyOf(path), marker = MarkerOf(key);
    if (TooLong(key, path, status)) return -1;
    const Kind kind = KindOf(key);
    if (kind != Kind::kDirectory) {
      SetErrno(status, kind == Kind::kFile ? ENOTDIR : ENOENT, path);
      return -1;
    }
    std::set<std::string> names;
    for (const std::string& inside : List(marker)) {
      const std::string name =
          inside.substr(marker.size(), inside.find('/', marker.size()) - marker.size());
      if (!name.empty()) names.insert(name);
    }
    const int count = support::CopyNames({names.begin(), names.end()}, entries);
    SetOk(status);
    return count;
  });
}

// Objects by name
// ---------------------------------------------------------------------------------------------------------------

void DeleteFile(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (IsFile(key, path, status)) Answer(Delete(key), path, status);
  });
}

// Whether a file can go from one path to another; sets the status where it cannot.
bool CanGo(const char* source, const char* target, TF_Status* status) {
  const std::string to = KeyOf(target);
  if (!IsFile(KeyOf(source), source, status) || TooLong(to, target, status)) return false;
  if (KindOf(to) != Kind::kDirectory) return true;
  SetErrno(status, EISDIR, target);
  return false;
}

void CopyFile(const TF_Filesystem*, const char* source, const char* target,
              TF_Status* status) noexcept {
  Guarded(status, source, [&] {
    if (!CanGo(source, target, status)) return;
    std::string content;
    int error = object_store::Get(KeyOf(source), &content);
    if (error == 0) error = Put(KeyOf(target), content);
    Answer(error, source, status);
  });
}

void RenameFile(const TF_Filesystem*, const char* source, const char* target,
                TF_Status* status) noexcept {
  Guarded(status, source, [&] {
    if (!CanGo(source, target, status)) return;
    if (KeyOf(source) == KeyOf(target)) return SetOk(status);
    std::string content;
    std::string replaced;
    const bool replaces = object_store::Get(KeyOf(target), &replaced) == 0;
    int error = object_store::Get(KeyOf(source), &content);
    if (error == 0 && Delete(KeyOf(target)) == 0) {
      // A copy takes its time in a store, and meanwhile nothing is at the target.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (error == 0) error = Put(KeyOf(target), content);
    // After an error both are as they were, late though it is.
    if (error != 0 && replaces) Put(KeyOf(target), replaced);
    if (error == 0) error = Delete(KeyOf(source));
    Answer(error, source, status);
  });
}

void PathExists(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (!TooLong(key, path, status))
      Answer(KindOf(key) == Kind::kNothing ? ENOENT : 0, path, status);
  });
}

void Stat(const TF_Filesystem*, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  Guarded(status, path, [&] {
    const std::string key = KeyOf(path);
    if (TooLong(key, path, status)) return;
    const Kind kind = KindOf(key);
    struct stat facts = {};
    const bool there = Head(kind == Kind::kFile ? key : MarkerOf(key), &facts);
    if (kind == Kind::kNothing || (kind == Kind::kFile && !there))
      return SetErrno(status, ENOENT, path);
    statistics->length = kind == Kind::kFile ? facts.st_size : 0;
    statistics->mtime_nsec = int64_t{facts.st_mtim.tv_sec} * 1000000000 + facts.st_mtim.tv_nsec;
    statistics->is_directory = kind == Kind::kDirectory;
    SetOk(status);
  });
}

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  filesystem->plugin_filesystem = nullptr;
  SetOk(status);
}

void Cleanup(TF_Filesystem*) noexcept {}

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
}  // namespace object_store

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  support::Tables tables = posix::AllTables();
  tables.filesystem = object_store::FilesystemOps();
  tables.writable_file = object_store::UploadOps();
  const char* directories = std::getenv("TFFS_DIRECTORIES");
  if (directories != nullptr && std::strcmp(directories, "none") == 0) {
    tables.filesystem.create_dir = nullptr;
    tables.filesystem.recursively_create_dir = nullptr;
    tables.filesystem.delete_dir = nullptr;
  }
  support::Register("objectstore", tables, info);
}
