// Faults that show only where a process ends by exit() while it is at work: its threads are in ops,
// or what it opened is still open.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "faults.h"

namespace fakes {
namespace {

// Waits until there are none any more: of a process that ends for ever.
void AwaitNone(const std::atomic<int>& left) {
  while (left != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::atomic<int> readers = 0;

void OpensReader(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  readers += Worked(status);
}

void ClosesReader(TF_RandomAccessFile* file) {
  Reading().cleanup(file);
  --readers;
}

void AwaitsReaders(support::Tables& tables) {
  tables.filesystem.new_random_access_file = OpensReader;
  tables.random_access_file.cleanup = ClosesReader;
  std::atexit([] { AwaitNone(readers); });
}

// The threads that have listed something, and live. That of exit() is none of them: what it has of
// its own is gone when handlers run.
std::atomic<int> listing_threads = 0;

struct ListingThread {
  ListingThread() { ++listing_threads; }
  ~ListingThread() { --listing_threads; }
  void Come() {}
};

int ListsInThread(Filesystem filesystem, Path path, char*** entries, Status status) {
  static thread_local ListingThread mine;
  mine.Come();
  return Right().get_children(filesystem, path, entries, status);
}

void AwaitsThreads(support::Tables& tables) {
  tables.filesystem.get_children = ListsInThread;
  std::atexit([] { AwaitNone(listing_threads); });
}

// A thread for each file that is written. To destroy one that nobody joined ends the process.
struct Worker {
  std::promise<void> end;
  std::thread thread{[ended = end.get_future().share()] { ended.wait(); }};
};
std::mutex workers_lock;

std::map<void*, Worker>& Workers() {
  static std::map<void*, Worker> all;
  return all;
}

void StartsWorker(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(workers_lock);
  Workers()[file->plugin_file];
}

void EndsWorker(TF_WritableFile* file) {
  {
    const std::lock_guard<std::mutex> lock(workers_lock);
    const auto found = Workers().find(file->plugin_file);
    if (found != Workers().end()) {
      found->second.end.set_value();
      found->second.thread.join();
      Workers().erase(found);
    }
  }
  Writing().cleanup(file);
}

void JoinsNobody(support::Tables& tables) {
  tables.filesystem.new_writable_file = StartsWorker;
  tables.writable_file.cleanup = EndsWorker;
}

// The files that are written, by their objects, and those that were closed. Threads may still ask
// for them when the process ends.
std::mutex written_lock;
auto& open_files = *new std::map<void*, std::string>;
auto& closed_files = *new std::set<std::string>;

void OpensWriter(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(written_lock);
  open_files[file->plugin_file] = path;
}

void ClosesWriter(Writer file, Status status) {
  Writing().close(file, status);
  const std::lock_guard<std::mutex> lock(written_lock);
  const auto found = open_files.find(file->plugin_file);
  if (found == open_files.end()) return;
  closed_files.insert(found->second);
  open_files.erase(found);
}

void DropsWriter(TF_WritableFile* file) {
  {
    const std::lock_guard<std::mutex> lock(written_lock);
    open_files.erase(file->plugin_file);
  }
  Writing().cleanup(file);
}

void RemembersWriters(support::Tables& tables) {
  tables.filesystem.new_writable_file = OpensWriter;
  tables.writable_file.close = ClosesWriter;
  tables.writable_file.cleanup = DropsWriter;
}

void EmptiesWhatIsOpen() {
  const std::lock_guard<std::mutex> lock(written_lock);
  for (const auto& [file, path] : open_files)
    if (truncate(path.c_str(), 0) != 0) continue;
}

void DeletesWhatWasClosed() {
  const std::lock_guard<std::mutex> lock(written_lock);
  for (const std::string& path : closed_files) unlink(path.c_str());
}

void EndWell() { _exit(EXIT_SUCCESS); }

}  // namespace

std::vector<Fault> ExitFaults() {
  constexpr const char* kEnds = "a process that is at work can exit";
  constexpr const char* kCode = "a process that exits has the status that it chose";
  constexpr const char* kStored = "what was stored is there when the process has exited";
  return {
      {"processes.exit-waits-for-readers",
       "the end of the process waits for readers to be cleaned up", kEnds, AwaitsReaders},
      {"processes.exit-waits-for-threads",
       "the end of the process waits for the threads that listed", kEnds, AwaitsThreads},
      {"processes.exit-joins-nobody", "the end of the process destroys a thread for each open file",
       kEnds, JoinsNobody},
      {"processes.exit-is-success", "the end of the process ends it with the status 0", kCode,
       [](support::Tables&) { std::atexit(EndWell); }},
      {"processes.quick-exit-is-success", "quick_exit ends the process with the status 0", kCode,
       [](support::Tables&) { std::at_quick_exit(EndWell); }},
      {"processes.exit-empties", "the end of the process empties the files that are not closed",
       kStored,
       [](support::Tables& t) {
         RemembersWriters(t);
         std::atexit(EmptiesWhatIsOpen);
       }},
      {"processes.exit-deletes", "the end of the process deletes the files that were closed",
       kStored,
       [](support::Tables& t) {
         RemembersWriters(t);
         std::atexit(DeletesWhatWasClosed);
       }},
  };
}

}  // namespace fakes
