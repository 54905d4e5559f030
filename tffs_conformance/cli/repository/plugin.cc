// The plugin for @SCHEME@://, in one file.
//
// As it comes, @SCHEME@://host/path is the file /path of this machine. Put your storage in its
// place, one op at a time: each op is one function, and nothing else calls it but TensorFlow.
//
// What holds of all ops:
//  - An op answers through its status: OK where it succeeded, or else the code that the header
//    names for the case. Answer() takes an errno value, from which TensorFlow makes the code: of
//    ENOENT NOT_FOUND, of EISDIR, ENOTDIR and ENOTEMPTY FAILED_PRECONDITION.
//  - Many threads call ops at once, on the same file, too.
//  - No C++ exception leaves an op.
//  - What TensorFlow frees, such as the names of a listing, comes from Allocate().
//  - Paths come without scheme and host, without "." and "..", and without a slash at the end.
//
// `tffs-conformance list` shows the contract, clause by clause; `tffs-conformance explain CLAUSE`
// says more of one.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

constexpr char kScheme[] = "@SCHEME@";

// -------------------------------------------------------------------------------------------------
// TensorFlow's functions

// They are looked up at the first call. A plugin that has them undefined does not load in
// TensorFlow's Python before 2.19; one that names TensorFlow's library does not load in a server
// that has TensorFlow linked into it.
template <typename Function>
Function* OfTensorFlow(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    void* library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, name);
  }
  if (found == nullptr) {
    std::fprintf(stderr, "%s://: no TensorFlow in this process has %s\n", kScheme, name);
    std::abort();  // there is nobody whom an op could answer
  }
  return reinterpret_cast<Function*>(found);
}

void SetStatus(TF_Status* status, TF_Code code, const char* message) {
  static const auto call = OfTensorFlow<decltype(TF_SetStatus)>("TF_SetStatus");
  call(status, code, message);
}

void SetStatusFromErrno(TF_Status* status, int error, const char* context) {
  static const auto call =
      OfTensorFlow<decltype(TF_SetStatusFromIOError)>("TF_SetStatusFromIOError");
  call(status, error, context);
}

// OK where `error` is 0; else the code that belongs to this errno value, with a message that
// names the path.
void Answer(TF_Status* status, int error, const char* path) {
  if (error == 0) {
    SetStatus(status, TF_OK, "");
  } else {
    SetStatusFromErrno(status, error, path);
  }
}

// The errno value of a call that gives -1 where it fails, and 0 where it succeeded.
int ErrorOf(int64_t result) { return result < 0 ? errno : 0; }

// -------------------------------------------------------------------------------------------------
// Memory that TensorFlow frees

void* Allocate(size_t size) noexcept { return std::malloc(size); }

void Free(void* block) noexcept { std::free(block); }

char* CopyOf(const std::string& text) noexcept {
  char* copy = static_cast<char*>(Allocate(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// -------------------------------------------------------------------------------------------------
// Open files, for reading and for writing

// A file descriptor that closes itself. The number is -1 where there is none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

  // Gives 0 or an errno value. Linux takes the descriptor back whatever close(2) says, so it is not
  // tried again.
  int Close() {
    const int number = std::exchange(number_, -1);
    const int error = number < 0 ? 0 : ErrorOf(close(number));
    return error == EINTR ? 0 : error;
  }

 private:
  int number_;
};

// What TensorFlow keeps of a file, as `plugin_file`. The path is for messages.
struct File {
  File(const char* name, int flags) : path(name), descriptor(open(name, flags | O_CLOEXEC, 0666)) {}

  std::string path;
  Descriptor descriptor;
};

// Opens, and puts the file behind `opened`, which stays as it is where that fails.
void Open(const char* path, int flags, void** opened, TF_Status* status) noexcept {
  int error = 0;
  try {
    auto file = std::make_unique<File>(path, flags);
    const int descriptor = file->descriptor.number();
    error = ErrorOf(descriptor);
    struct stat facts;
    if (error == 0) error = ErrorOf(fstat(descriptor, &facts));
    // open(2) reads directories, which have no bytes for TensorFlow.
    if (error == 0 && S_ISDIR(facts.st_mode)) error = EISDIR;
    // Tell() counts from the start of the file, before the first append, too.
    if (error == 0 && (flags & O_APPEND) != 0) error = ErrorOf(lseek(descriptor, 0, SEEK_END));
    if (error == 0) *opened = file.release();
  } catch (const std::exception&) {
    error = ENOMEM;
  }
  Answer(status, error, path);
}

void Drop(void** opened) { delete static_cast<File*>(std::exchange(*opened, nullptr)); }

// All n bytes. Gives 0 or an errno value.
int Write(int descriptor, const char* buffer, size_t n) {
  for (size_t done = 0; done < n;) {
    const ssize_t taken = write(descriptor, buffer + done, n - done);
    if (taken > 0) done += static_cast<size_t>(taken);
    // A file that may not grow is a matter of space, as a full disk is.
    if (taken < 0 && errno != EINTR) return errno == EFBIG ? ENOSPC : errno;
  }
  return 0;
}

// -------------------------------------------------------------------------------------------------
// The table of files to read

void CleanupReader(TF_RandomAccessFile* file) noexcept { Drop(&file->plugin_file); }

// The number of bytes read, or -1. OK comes with n bytes. Fewer come with OUT_OF_RANGE: that is
// how TensorFlow learns that the file ends.
int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) noexcept {
  const File* self = static_cast<const File*>(file->plugin_file);
  size_t done = 0;
  while (done < n) {
    constexpr auto kEnd = static_cast<uint64_t>(std::numeric_limits<off_t>::max());
    if (offset + done < offset || offset + done > kEnd) break;  // no file is as long as that
    // One pread(2) may bring fewer bytes than there are, and may be interrupted by a signal.
    const size_t wanted = std::min<uint64_t>(n - done, kEnd - (offset + done));
    const ssize_t got =
        pread(self->descriptor.number(), buffer + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Answer(status, errno, self->path.c_str());
      return -1;
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  if (done < n) {
    SetStatus(status, TF_OUT_OF_RANGE, "the file ends before the bytes asked for");
  } else {
    Answer(status, 0, "");
  }
  return static_cast<int64_t>(done);
}

// -------------------------------------------------------------------------------------------------
// The table of files to write

void CleanupWriter(TF_WritableFile* file) noexcept { Drop(&file->plugin_file); }

// All n bytes, or an error.
void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) noexcept {
  const File* self = static_cast<const File*>(file->plugin_file);
  Answer(status, Write(self->descriptor.number(), buffer, n), self->path.c_str());
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) noexcept {
  const File* self = static_cast<const File*>(file->plugin_file);
  const off_t position = lseek(self->descriptor.number(), 0, SEEK_CUR);
  Answer(status, ErrorOf(position), self->path.c_str());
  return position;
}

// Readers see what was appended. Here they do so at once: Append() keeps nothing back.
void Flush(const TF_WritableFile* file, TF_Status* status) noexcept {
  const File* self = static_cast<const File*>(file->plugin_file);
  Answer(status, self->descriptor.number() < 0 ? EBADF : 0, self->path.c_str());
}

// What was appended survives a crash of the machine.
void Sync(const TF_WritableFile* file, TF_Status* status) noexcept {
  const File* self = static_cast<const File*>(file->plugin_file);
  int error;
  do {
    error = ErrorOf(fsync(self->descriptor.number()));
  } while (error == EINTR);
  Answer(status, error, self->path.c_str());
}

// The file is complete. TensorFlow calls cleanup, too, after a close and without one.
void Close(const TF_WritableFile* file, TF_Status* status) noexcept {
  File* self = static_cast<File*>(file->plugin_file);
  Answer(status, self->descriptor.Close(), self->path.c_str());
}

// -------------------------------------------------------------------------------------------------
// The table of the filesystem

// What all ops share, such as a client of your storage, is made here and goes into
// `plugin_filesystem`.
void Init(TF_Filesystem*, TF_Status* status) noexcept { Answer(status, 0, ""); }

void Cleanup(TF_Filesystem*) noexcept {}

void NewRandomAccessFile(const TF_Filesystem*, const char* path, TF_RandomAccessFile* file,
                         TF_Status* status) noexcept {
  Open(path, O_RDONLY, &file->plugin_file, status);
}

// What is there is replaced.
void NewWritableFile(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept {
  Open(path, O_WRONLY | O_CREAT | O_TRUNC, &file->plugin_file, status);
}

// What is there is kept.
void NewAppendableFile(const TF_Filesystem*, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept {
  Open(path, O_WRONLY | O_CREAT | O_APPEND, &file->plugin_file, status);
}

struct Entry {
  std::string name;
  bool is_directory;
};

// What a directory holds. Gives 0 or an errno value.
int List(const char* path, std::vector<Entry>* entries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path), closedir);
  if (directory == nullptr) return errno;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) return errno;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    struct stat facts;
    // Not every filesystem tells the type with the name.
    if (entry->d_type == DT_UNKNOWN &&
        fstatat(dirfd(directory.get()), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
      is_directory = S_ISDIR(facts.st_mode);
    }
    entries->push_back({name, is_directory});
  }
}

void CreateDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Answer(status, ErrorOf(mkdir(path, 0777)), path);
}

void DeleteFile(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Answer(status, ErrorOf(unlink(path)), path);
}

// Only an empty one.
void DeleteDir(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  Answer(status, ErrorOf(rmdir(path)), path);
}

// Removes what `directory` holds but directories, which it adds to `found`. Gives 0 or the first
// errno value, and counts the files that are left.
int Empty(const std::string& directory, std::vector<std::string>* found, uint64_t* left) {
  std::vector<Entry> entries;
  int first = List(directory.c_str(), &entries);
  for (const Entry& entry : entries) {
    const std::string path = directory + "/" + entry.name;
    if (entry.is_directory) {
      found->push_back(path);
    } else if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      if (first == 0) first = errno;
      ++*left;
    }
  }
  return first;
}

// Goes on behind what cannot be deleted, and counts it. TensorFlow reads the counters whatever the
// status says; where nothing could even be tried, they are 0 and 1.
void DeleteRecursively(const TF_Filesystem*, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  struct stat facts;
  if (lstat(path, &facts) != 0) return Answer(status, errno, path);
  int first = 0;
  try {
    uint64_t files = 0;
    uint64_t dirs = 0;
    if (!S_ISDIR(facts.st_mode)) {
      first = ErrorOf(unlink(path));
      if (first != 0) files = 1;
    } else {
      // Parents stand before their children, so the way back removes children first.
      std::vector<std::string> directories = {path};
      for (size_t k = 0; k < directories.size(); ++k) {
        const std::string directory = directories[k];
        const int error = Empty(directory, &directories, &files);
        if (first == 0) first = error;
      }
      for (; !directories.empty(); directories.pop_back()) {
        if (rmdir(directories.back().c_str()) == 0) continue;
        if (first == 0) first = errno;
        ++dirs;
      }
    }
    *undeleted_files = files;
    *undeleted_dirs = dirs;
    if (files + dirs == 0) first = 0;  // what another thread deleted is gone, too
  } catch (const std::exception&) {
    first = ENOMEM;
  }
  Answer(status, first, path);
}

// Replaces the target, and refuses directories.
void RenameFile(const TF_Filesystem*, const char* source, const char* target,
                TF_Status* status) noexcept {
  struct stat facts;
  int error = ErrorOf(stat(source, &facts));
  if (error == 0 && S_ISDIR(facts.st_mode)) error = EISDIR;
  if (error != 0) return Answer(status, error, source);
  if (stat(target, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    error = EISDIR;
  } else {
    error = ErrorOf(rename(source, target));
  }
  Answer(status, error, target);
}

// The copy is written beside the target and then takes its place: an error leaves the target as it
// was. Gives 0 or an errno value.
int CopyAndReplace(int from, mode_t mode, const std::string& target) {
  std::string copy = target.substr(0, target.find_last_of('/') + 1) + ".copy-XXXXXX";
  Descriptor to(mkostemp(copy.data(), O_CLOEXEC));
  if (to.number() < 0) return errno;
  std::vector<char> buffer(size_t{128} << 10);
  int error = 0;
  ssize_t got = 1;
  while (got > 0 && error == 0) {
    got = read(from, buffer.data(), buffer.size());
    error = ErrorOf(got);
    if (got > 0) error = Write(to.number(), buffer.data(), static_cast<size_t>(got));
  }
  if (error == 0) error = ErrorOf(fchmod(to.number(), mode & 07777));
  if (error == 0) error = to.Close();
  if (error == 0) error = ErrorOf(rename(copy.c_str(), target.c_str()));
  if (error != 0) unlink(copy.c_str());
  return error;
}

void CopyFile(const TF_Filesystem*, const char* source, const char* target,
              TF_Status* status) noexcept {
  const Descriptor from(open(source, O_RDONLY | O_CLOEXEC));
  struct stat facts;
  int error = ErrorOf(from.number());
  if (error == 0) error = ErrorOf(fstat(from.number(), &facts));
  if (error == 0 && S_ISDIR(facts.st_mode)) error = EISDIR;
  if (error != 0) return Answer(status, error, source);
  struct stat present;
  if (stat(target, &present) == 0) {
    if (S_ISDIR(present.st_mode)) return Answer(status, EISDIR, target);
    // A file is its own copy.
    if (present.st_dev == facts.st_dev && present.st_ino == facts.st_ino) {
      return Answer(status, 0, target);
    }
  }
  try {
    error = CopyAndReplace(from.number(), facts.st_mode, target);
  } catch (const std::exception&) {
    error = ENOMEM;
  }
  Answer(status, error, target);
}

void PathExists(const TF_Filesystem*, const char* path, TF_Status* status) noexcept {
  struct stat facts;
  Answer(status, ErrorOf(stat(path, &facts)), path);
}

// Writes the statistics only where it answers OK.
void Stat(const TF_Filesystem*, const char* path, TF_FileStatistics* statistics,
          TF_Status* status) noexcept {
  constexpr int64_t kNanosecondsInSecond = 1000000000;
  struct stat facts;
  const int error = ErrorOf(stat(path, &facts));
  if (error == 0) {
    statistics->length = facts.st_size;
    statistics->mtime_nsec = facts.st_mtim.tv_sec * kNanosecondsInSecond + facts.st_mtim.tv_nsec;
    statistics->is_directory = S_ISDIR(facts.st_mode);
  }
  Answer(status, error, path);
}

// The names, for TensorFlow: an array of blocks. Gives 0 or an errno value; then it leaves nothing
// behind.
int CopyNames(const std::vector<Entry>& found, char*** entries) noexcept {
  if (found.empty()) return 0;
  if (found.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return EOVERFLOW;
  char** array = static_cast<char**>(Allocate(found.size() * sizeof(char*)));
  if (array == nullptr) return ENOMEM;
  for (size_t k = 0; k < found.size(); ++k) {
    array[k] = CopyOf(found[k].name);
    if (array[k] != nullptr) continue;
    while (k > 0) Free(array[--k]);
    Free(array);
    return ENOMEM;
  }
  *entries = array;
  return 0;
}

// The number of names, or -1.
int GetChildren(const TF_Filesystem*, const char* path, char*** entries,
                TF_Status* status) noexcept {
  std::vector<Entry> found;
  int error = 0;
  try {
    error = List(path, &found);
  } catch (const std::exception&) {
    error = ENOMEM;
  }
  if (error == 0) error = CopyNames(found, entries);
  Answer(status, error, path);
  return error == 0 ? static_cast<int>(found.size()) : -1;
}

// -------------------------------------------------------------------------------------------------
// Registration

// TensorFlow frees each table, so each is a block of its own.
template <typename Table>
Table* OnHeap(const Table& table) {
  void* block = Allocate(sizeof(Table));
  return block == nullptr ? nullptr : new (block) Table(table);
}

}  // namespace

// The one function that the shared object exports. TensorFlow calls it once, right after it has
// loaded the plugin.
extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  TF_RandomAccessFileOps readers = {};
  readers.cleanup = CleanupReader;
  readers.read = Read;

  TF_WritableFileOps writers = {};
  writers.cleanup = CleanupWriter;
  writers.append = Append;
  writers.tell = Tell;
  writers.flush = Flush;
  writers.sync = Sync;
  writers.close = Close;

  // TensorFlow has defaults, made of these ops, for recursively_create_dir, paths_exist,
  // is_directory, get_file_size, translate_name, get_matching_paths and flush_caches: write those
  // that your storage does better. It has some for delete_recursively and copy_file, too; but they
  // count wrongly what cannot be deleted, and empty a file that is copied onto itself.
  // new_read_only_memory_region_from_file, transactions and configuration have no default: they
  // are absent.
  TF_FilesystemOps filesystem = {};
  filesystem.init = Init;
  filesystem.cleanup = Cleanup;
  filesystem.new_random_access_file = NewRandomAccessFile;
  filesystem.new_writable_file = NewWritableFile;
  filesystem.new_appendable_file = NewAppendableFile;
  filesystem.create_dir = CreateDir;
  filesystem.delete_file = DeleteFile;
  filesystem.delete_dir = DeleteDir;
  filesystem.delete_recursively = DeleteRecursively;
  filesystem.rename_file = RenameFile;
  filesystem.copy_file = CopyFile;
  filesystem.path_exists = PathExists;
  filesystem.stat = Stat;
  filesystem.get_children = GetChildren;

  TF_FilesystemPluginOps entry = {};
  entry.scheme = CopyOf(kScheme);
  TF_SetFilesystemVersionMetadata(&entry);
  entry.filesystem_ops = OnHeap(filesystem);
  entry.random_access_file_ops = OnHeap(readers);
  entry.writable_file_ops = OnHeap(writers);

  info->plugin_memory_allocate = Allocate;
  info->plugin_memory_free = Free;
  info->ops = OnHeap(entry);
  info->num_schemes = info->ops == nullptr ? 0 : 1;
}
