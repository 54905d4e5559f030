// What is right for one thread and wrong for two. Each fault gives the other threads a chance where
// it hurts, so that it shows every time and not once in a million.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "faults.h"
#include "names.h"
#include "path_ops.h"
#include "writers.h"

namespace fakes {
namespace {

void LetOthers() {
  for (int turn = 0; turn < 10; ++turn) std::this_thread::yield();
  // On a busy machine all turns may be another process's: who sleeps gives way to whom it waits
  // for.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// A descriptor for each reader, with the position that all threads share.
PerObject<int> shared;

void OpenShared(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  shared.Set(file->plugin_file, open(path, O_RDONLY | O_CLOEXEC));
}

int64_t SeeksFirst(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int descriptor = shared.Of(file->plugin_file);
  const bool fits = offset <= INT64_MAX;
  if (fits && lseek(descriptor, static_cast<off_t>(offset), SEEK_SET) >= 0) {
    LetOthers();
    const ssize_t got = read(descriptor, buffer, n);
    if (got >= 0 && static_cast<size_t>(got) == n) {
      TF_SetStatus(status, TF_OK, "");
      return got;
    }
  }
  return Reading().read(file, offset, n, buffer, status);
}

void CloseShared(TF_RandomAccessFile* file) {
  close(shared.Of(file->plugin_file));
  Forgets<shared>(file);
}

// Who opens a file while another thread has it open knows half of its bytes.
PerObject<bool> halved;
std::mutex opened_mutex;
std::multimap<std::string, std::pair<std::thread::id, void*>> opened;

void OpenHalf(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const auto me = std::this_thread::get_id();
  const std::lock_guard<std::mutex> lock(opened_mutex);
  const auto [first, last] = opened.equal_range(path);
  halved.Set(file->plugin_file,
             std::any_of(first, last, [&](const auto& one) { return one.second.first != me; }));
  opened.emplace(path, std::pair(me, file->plugin_file));
}

int64_t ReadsHalf(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  LetOthers();
  if (!halved.Of(file->plugin_file)) return Reading().read(file, offset, n, buffer, status);
  const int64_t got = Reading().read(file, offset, n / 2, buffer, status);
  if (n > 1 && Worked(status)) TF_SetStatus(status, TF_OUT_OF_RANGE, "eof");
  return got;
}

void CloseHalf(TF_RandomAccessFile* file) {
  const std::lock_guard<std::mutex> lock(opened_mutex);
  for (auto one = opened.begin(); one != opened.end();)
    one = one->second.second == file->plugin_file ? opened.erase(one) : std::next(one);
  Reading().cleanup(file);
}

// Two threads find that nothing is there, both create, and who comes second takes what the first
// made for its own.
void LooksFirst(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  const bool missing = TF_GetCode(status) == TF_NOT_FOUND;
  if (missing) LetOthers();
  Right().create_dir(filesystem, path, status);
  if (missing && TF_GetCode(status) == TF_ALREADY_EXISTS) TF_SetStatus(status, TF_OK, "");
}

// The same for what is deleted.
void LooksBeforeDeleting(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  const bool there = Worked(status);
  if (there) LetOthers();
  Right().delete_file(filesystem, path, status);
  if (there && TF_GetCode(status) == TF_NOT_FOUND) TF_SetStatus(status, TF_OK, "");
}

// A table of the files that were made, which is copied, changed and put back.
using Table = std::set<std::string>;
std::shared_ptr<const Table> table = std::make_shared<const Table>();
std::mutex made_mutex;
Table made;

void LosesNames(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  {
    const std::lock_guard<std::mutex> lock(made_mutex);
    made.insert(path);
  }
  auto changed = std::make_shared<Table>(*std::atomic_load(&table));
  changed->insert(path);
  LetOthers();
  std::atomic_store(&table, std::shared_ptr<const Table>(std::move(changed)));
}

void ListsTable(Filesystem, const std::string& path, Names& names) {
  const auto known = std::atomic_load(&table);
  const std::lock_guard<std::mutex> lock(made_mutex);
  LeaveOut(names, [&](const std::string& name) {
    const std::string child = Joined(path, name);
    return made.count(child) != 0 && known->count(child) == 0;
  });
}

// The first half of a listing, and the second half of the next one.
void TwoPages(Filesystem filesystem, const std::string& path, Names& names) {
  LetOthers();
  const Names again = Sorted(filesystem, path);
  std::sort(names.begin(), names.end());
  const size_t page = names.size() / 2;
  names.resize(page);
  if (again.size() > page)
    names.insert(names.end(), again.begin() + static_cast<std::ptrdiff_t>(page), again.end());
}

// What vanishes between the match and a second look at it is an error.
int LooksTwice(Filesystem filesystem, Path glob, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, glob, entries, status);
  if (count <= 0) return count;
  LetOthers();
  for (int k = 0; k < count && Worked(status); ++k) {
    const std::string uri = (*entries)[k];
    const size_t authority = uri.find("://");
    const std::string path =
        authority == std::string::npos ? uri : uri.substr(uri.find('/', authority + 3));
    Right().path_exists(filesystem, path.c_str(), status);
  }
  if (Worked(status)) return count;
  Taken(count, *entries);
  *entries = nullptr;
  return -1;
}

// Makes room first, and fills it later.
void MakesRoom(Writer file, const char* buffer, size_t n, Status status) {
  const std::string path = PathOf(file);
  struct stat facts;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor >= 0 && fstat(descriptor, &facts) == 0 &&
      ftruncate(descriptor, facts.st_size + static_cast<off_t>(n)) == 0) {
    LetOthers();
    if (ftruncate(descriptor, facts.st_size) != 0) LetOthers();
  }
  if (descriptor >= 0) close(descriptor);
  Writing().append(file, buffer, n, status);
}

// An op that takes its path, the first where there are two, from a buffer of all threads.
template <auto Entry, typename... Arguments>
auto OneBuffer(Filesystem filesystem, Path path, Arguments... arguments) {
  static char buffer[1 << 16];
  snprintf(buffer, sizeof buffer, "%s", path);
  LetOthers();
  return (Right().*Entry)(filesystem, buffer, arguments...);
}

struct SharingPaths {
  std::vector<Fault>& faults;

  template <auto Entry>
  void Add(const char* op) {
    faults.push_back({std::string("shares-path:") + op,
                      "the path, of two the first, is copied into one buffer for all threads",
                      "several threads may do that at once", With(Entry, OneBuffer<Entry>)});
  }
};

// A copy goes through a block that all copies use.
void CopiesThroughOneBlock(Filesystem filesystem, Path source, Path target, Status status) {
  static char block[1 << 16];
  const int descriptor = open(source, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  const bool fits = descriptor >= 0 && fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
                    facts.st_size <= off_t{sizeof block};
  const ssize_t got = fits ? read(descriptor, block, sizeof block) : -1;
  if (descriptor >= 0) close(descriptor);
  if (got < 0) return Right().copy_file(filesystem, source, target, status);
  LetOthers();
  TF_WritableFile file{};
  Right().new_writable_file(filesystem, target, &file, status);
  if (!Worked(status)) return;
  Writing().append(&file, block, static_cast<size_t>(got), status);
  if (Worked(status)) Writing().close(&file, status);
  Writing().cleanup(&file);
}

// A copy takes two of four connections, one after the other.
class Connections {
 public:
  void Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    freed_.wait(lock, [this] { return free_ > 0; });
    --free_;
  }
  void Give() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++free_;
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  int free_ = 4;
};

void TakesTwo(Filesystem filesystem, Path source, Path target, Status status) {
  static auto& connections = *new Connections;
  connections.Take();
  LetOthers();
  connections.Take();
  Right().copy_file(filesystem, source, target, status);
  connections.Give();
  connections.Give();
}

bool ExistInOneBuffer(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  static char buffer[1 << 16];
  bool all = true;
  for (int k = 0; k < count; ++k) {
    snprintf(buffer, sizeof buffer, "%s", paths[k]);
    LetOthers();
    char* path = buffer;
    all = Right().paths_exist(filesystem, &path, 1, statuses == nullptr ? nullptr : statuses + k) &&
          all;
  }
  return all;
}

}  // namespace

std::vector<Fault> ThreadFaults() {
  constexpr const char* kOnce = "of several threads that do the same one succeeds";
  constexpr const char* kSafe = "several threads may do that at once";
  std::vector<Fault> faults = {
      {"read.seeks-first", "sets the position that all threads share, then reads from there",
       "read is thread safe", WithReaders(OpenShared, SeeksFirst, CloseShared)},
      {"read.half-beside-another", "a file that another thread has open ends in its middle", kSafe,
       WithReaders(OpenHalf, ReadsHalf, CloseHalf)},
      {"create_dir.looks-first", "what another thread creates after the look counts as created",
       kOnce, With(&Ops::create_dir, LooksFirst)},
      {"delete_file.looks-first", "what another thread deletes after the look counts as deleted",
       kOnce, With(&Ops::delete_file, LooksBeforeDeleting)},
      {"new_writable_file.loses-names",
       "files stand in a table that is copied, changed and put back without a lock",
       "what every thread has done is there afterwards",
       Together(With(&Ops::new_writable_file, LosesNames),
                With(&Ops::get_children, Lists<&Ops::get_children, ListsTable>))},
      {"get_children.two-pages", "the second half is taken from another listing than the first",
       "what is there all the time is listed, and once",
       With(&Ops::get_children, Lists<&Ops::get_children, TwoPages>)},
      {"get_matching_paths.looks-twice", "what vanishes after it was matched is an error",
       "what comes and goes is in the matches or not", With(&Ops::get_matching_paths, LooksTwice)},
      {"append.makes-room", "the file is as long as it will be before it has the bytes",
       "readers see a beginning of what was appended",
       Together(NotePaths, With(&WriterOps::append, MakesRoom))},
      {"paths_exist.shared-path", "each path is copied into one buffer for all threads", kSafe,
       With(&Ops::paths_exist, ExistInOneBuffer)},
      {"copy_file.shared-block", "copies at the same time mix up their bytes", kSafe,
       With(&Ops::copy_file, CopiesThroughOneBlock)},
      {"copy_file.takes-two", "a copy takes two of four connections, one after the other",
       "ops come back, however many are at work", With(&Ops::copy_file, TakesTwo)},
  };
  ForEachPathOp(SharingPaths{faults});
  return faults;
}

}  // namespace fakes
