// Faults that show only where signals arrive, where the process forks, or where there are several.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "faults.h"

namespace fakes {
namespace {

// Waits as for an answer of somebody else. False where a signal cut that short.
bool Waited() {
  constexpr int kMilliseconds = 20;
  return poll(nullptr, 0, kMilliseconds) >= 0;
}

void StatWaits(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  if (!Waited()) return TF_SetStatus(status, TF_UNAVAILABLE, "interrupted");
  Right().stat(filesystem, path, facts, status);
}

int64_t ReadWaits(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const bool whole = Waited();
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (whole || got <= 0) return got;
  TF_SetStatus(status, TF_OUT_OF_RANGE, "as if the file ended here");
  return got - 1;
}

// A descriptor, and the position that it has as far as this process knows.
struct Positioned {
  std::mutex mutex;
  int descriptor = -1;
  uint64_t at = 0;
};
PerObject<Positioned> positions;

void OpensAtStart(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  positions.With(file->plugin_file, [&](Positioned& mine) {
    return mine.descriptor = open(path, O_RDONLY | O_CLOEXEC);
  });
}

int64_t ReadsOn(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const ssize_t got = positions.With(file->plugin_file, [&](Positioned& mine) -> ssize_t {
    if (mine.at != offset && lseek(mine.descriptor, static_cast<off_t>(offset), SEEK_SET) < 0)
      return -1;
    const ssize_t taken = read(mine.descriptor, buffer, n);
    mine.at = taken < 0 ? UINT64_MAX : offset + static_cast<uint64_t>(taken);
    return taken;
  });
  if (got < 0 || static_cast<size_t>(got) < n)
    return Reading().read(file, offset, n, buffer, status);
  TF_SetStatus(status, TF_OK, "");
  return got;
}

void ClosesPosition(TF_RandomAccessFile* file) {
  close(positions.With(file->plugin_file, [](Positioned& mine) { return mine.descriptor; }));
  Forgets<positions>(file);
}

// A second name for what is read; it goes with the reader.
PerObject<std::string> names;
std::atomic<int> number = 0;

void OpensByName(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const std::string name =
      "/tmp/tffs-name-" + std::to_string(getpid()) + "-" + std::to_string(++number);
  if (symlink(path, name.c_str()) == 0) names.Set(file->plugin_file, name);
}

int64_t ReadsByName(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const std::string name = names.Of(file->plugin_file);
  char target[1];
  if (!name.empty() && readlink(name.c_str(), target, sizeof target) < 0) {
    TF_SetStatus(status, TF_INTERNAL, "the name is gone");
    return -1;
  }
  return Reading().read(file, offset, n, buffer, status);
}

void DropsName(TF_RandomAccessFile* file) {
  const std::string name = names.Of(file->plugin_file);
  if (!name.empty()) unlink(name.c_str());
  Forgets<names>(file);
}

// A region that forked processes do not get.
void MapsForOne(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  const size_t length = Mapping().length(region);
  if (length == 0) return;
  // The data need not begin a page: only whole ones can be kept back.
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(Mapping().data(region)) / page * page;
  madvise(reinterpret_cast<void*>(begin), length, MADV_DONTFORK);
}

// The temporary files that were not moved to their places. A process that ends takes them along.
struct Unfinished {
  std::mutex mutex;
  std::map<void*, std::pair<std::string, std::string>> files;  // with their places

  ~Unfinished() {
    for (const auto& [file, names] : files) unlink(names.first.c_str());
  }

  std::pair<std::string, std::string> Taken(void* file) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto names = files[file];
    files.erase(file);
    return names;
  }
};

Unfinished& unfinished() {
  static Unfinished all;
  return all;
}

template <bool kHasNumber>
void OpensTemporary(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  // What is wrong with the place is told as ever.
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  Writing().cleanup(file);
  const std::string place = path;
  const std::string directory = place.substr(0, place.rfind('/'));
  const std::string temporary = directory.substr(0, directory.rfind('/')) + "/.tffs-new-" +
                                std::to_string(kHasNumber ? getpid() : 0) + "-" +
                                std::to_string(++number);
  Right().new_writable_file(filesystem, temporary.c_str(), file, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(unfinished().mutex);
  unfinished().files[file->plugin_file] = {temporary, place};
}

void ClosesTemporary(Writer file, Status status) {
  Writing().close(file, status);
  const auto [temporary, place] = unfinished().Taken(file->plugin_file);
  if (Worked(status) && !temporary.empty() && std::rename(temporary.c_str(), place.c_str()) != 0)
    TF_SetStatus(status, TF_ABORTED, "the temporary file is gone");
}

void DropsTemporary(TF_WritableFile* file) {
  unlink(unfinished().Taken(file->plugin_file).first.c_str());
  Writing().cleanup(file);
}

template <bool kHasNumber>
void WritesTemporaries(support::Tables& tables) {
  unfinished();
  tables.filesystem.new_writable_file = OpensTemporary<kHasNumber>;
  tables.writable_file.close = ClosesTemporary;
  tables.writable_file.cleanup = DropsTemporary;
}

}  // namespace

std::vector<Fault> ProcessFaults() {
  constexpr const char* kInterrupted = "a signal changes nothing of what an op answers";
  constexpr const char* kForked =
      "what a forked process does changes nothing of its parent's files";
  return {
      {"processes.stat-is-cut", "a signal ends the wait of stat", kInterrupted,
       With(&Ops::stat, StatWaits)},
      {"processes.read-is-cut", "a signal ends the wait of read, which gives what it has",
       kInterrupted, With(&ReaderOps::read, ReadWaits)},
      {"processes.drops-unfinished", "deletes what is not closed when a process cleans up or ends",
       kForked, WritesTemporaries<true>},
      {"processes.reads-on", "reads from where the last read of this process ended", kForked,
       WithReaders(OpensAtStart, ReadsOn, ClosesPosition)},
      {"processes.shares-a-name", "reads by a name that the first cleanup deletes", kForked,
       WithReaders(OpensByName, ReadsByName, DropsName)},
      {"processes.maps-for-one", "a forked process does not have the memory of a region",
       "a forked process reads what its parent has open",
       With(&Ops::new_read_only_memory_region_from_file, MapsForOne)},
      {"processes.same-temporary", "several processes write to one temporary file",
       "processes that work side by side do not meet", WritesTemporaries<false>},
  };
}

}  // namespace fakes
