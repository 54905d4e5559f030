// What is handed over, wrong after one answer only, or while something else is held.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "faults.h"
#include "mishaps.h"
#include "names.h"
#include "support/memory.h"

namespace fakes {
namespace {

using Lock = std::lock_guard<std::mutex>;

void NoCountersBelowAFile(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                          Status status) {
  uint64_t counts[2];
  Right().delete_recursively(filesystem, path, &counts[0], &counts[1], status);
  if (TF_GetCode(status) == TF_FAILED_PRECONDITION) return;
  *files = counts[0];
  *dirs = counts[1];
}

void NoTimeOfDirectories(Filesystem filesystem, Path path, TF_FileStatistics* facts,
                         Status status) {
  TF_FileStatistics all;
  Right().stat(filesystem, path, &all, status);
  if (!Worked(status)) return;
  facts->length = all.length;
  facts->is_directory = all.is_directory;
  if (!all.is_directory) facts->mtime_nsec = all.mtime_nsec;
}

void WritesBelowAFile(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  Right().stat(filesystem, path, facts, status);
  if (TF_GetCode(status) == TF_FAILED_PRECONDITION) facts->length = 0;
}

// Names of exactly 128 bytes go into blocks of as many.
int NoEndOf128(Filesystem filesystem, Path path, char*** entries, Status status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  for (int k = 0; k < count; ++k) {
    const std::string name = (*entries)[k];
    if (name.size() != 128) continue;
    support::Free((*entries)[k]);
    (*entries)[k] = support::CopyString(name + "what came behind it");
  }
  return count;
}

// More than 64 matches share one block for their names.
int OneBlockForMany(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count <= 64) return count;
  const Names names = Taken(count, *entries);
  std::string all;
  for (const std::string& name : names) all += name + '\0';
  char* block = static_cast<char*>(support::Allocate(all.size()));
  std::memcpy(block, all.data(), all.size());
  *entries = static_cast<char**>(support::Allocate(names.size() * sizeof(char*)));
  for (size_t k = 0; k < names.size(); ++k) {
    (*entries)[k] = block;
    block += names[k].size() + 1;
  }
  return count;
}

// A status behind that of a path below a file is not written.
bool StopsBelowAFile(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  for (int k = 0; statuses != nullptr && k < count; ++k) {
    Right().path_exists(filesystem, paths[k], statuses[k]);
    if (TF_GetCode(statuses[k]) == TF_FAILED_PRECONDITION) return false;
  }
  return Right().paths_exist(filesystem, paths, count, statuses);
}

// Statuses of its own, where the caller has none, are not deleted.
bool LosesItsStatus(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  if (statuses == nullptr) LeakBytes();
  return Right().paths_exist(filesystem, paths, count, statuses);
}

// A writer of a directory is there, and the answer is an error.
int some_writer;

void LeavesWriterOfADirectory(Filesystem filesystem, Path path, TF_WritableFile* file,
                              Status status) {
  Right().new_appendable_file(filesystem, path, file, status);
  if (!Worked(status) && Right().is_directory(filesystem, path, Scratch().status()))
    file->plugin_file = &some_writer;
}

// Two readers of a path have one descriptor, which goes with the first of them.

std::mutex readers_mutex;
std::map<const void*, std::string> readers;
PerObject<bool> closed;

void SharesDescriptor(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  const Lock lock(readers_mutex);
  if (Worked(status)) readers[file->plugin_file] = path;
}

int64_t ReadsShared(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (!closed.Of(file->plugin_file)) return Reading().read(file, offset, n, buffer, status);
  TF_SetStatus(status, TF_INTERNAL, "bad file descriptor");
  return -1;
}

void ClosesShared(TF_RandomAccessFile* file) {
  {
    const Lock lock(readers_mutex);
    const std::string path = readers[file->plugin_file];
    readers.erase(file->plugin_file);
    for (const auto& [object, name] : readers)
      if (name == path) closed.Set(object, true);
  }
  Forgets<closed>(file);
}

// Two regions of a path have one block, which the first cleanup writes over.

struct Block {
  std::string path;
  std::vector<char> bytes;
};
std::mutex blocks_mutex;
std::map<const void*, std::shared_ptr<Block>> blocks;

void SharesBlock(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  const char* data = static_cast<const char*>(Mapping().data(region));
  const std::vector<char> bytes(data, data + Mapping().length(region));
  const Lock lock(blocks_mutex);
  std::shared_ptr<Block> mine;
  for (const auto& [object, block] : blocks)
    if (block->path == path && block->bytes == bytes) mine = block;
  if (mine == nullptr) mine = std::make_shared<Block>(Block{path, bytes});
  blocks[region->plugin_memory_region] = mine;
}

const void* SharedData(Region region) {
  const Lock lock(blocks_mutex);
  return blocks[region->plugin_memory_region]->bytes.data();
}

void WritesOverBlock(TF_ReadOnlyMemoryRegion* region) {
  {
    const Lock lock(blocks_mutex);
    auto& bytes = blocks[region->plugin_memory_region]->bytes;
    std::fill(bytes.begin(), bytes.end(), '\xdd');
    blocks.erase(region->plugin_memory_region);
  }
  Mapping().cleanup(region);
}

// What is set up by the first call is not there for those that come meanwhile.
template <int which>
bool IsReady() {
  static std::atomic<int> state{0};
  int fresh = 0;
  if (state.compare_exchange_strong(fresh, 1)) {
    usleep(20000);
    state = 2;
  }
  return state == 2;
}

void OpensWhenReady(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  if (!IsReady<0>()) return TF_SetStatus(status, TF_INTERNAL, "there is no client yet");
  Right().new_random_access_file(filesystem, path, file, status);
}

int ListsWhenReady(Filesystem filesystem, Path path, char*** entries, Status status) {
  if (IsReady<1>()) return Right().get_children(filesystem, path, entries, status);
  TF_SetStatus(status, TF_INTERNAL, "there is no client yet");
  return -1;
}

}  // namespace

std::vector<Fault> HandoverFaults() {
  constexpr const char* kSeveral = "several threads may do that at once";
  return {
      {"handed-over.no-counters-below-a-file",
       "delete_recursively writes no counters for a path below a file",
       "the counters say what was not deleted",
       With(&Ops::delete_recursively, NoCountersBelowAFile)},
      {"handed-over.no-time-of-directories", "stat writes no time for directories",
       "the statistics are those of the path", With(&Ops::stat, NoTimeOfDirectories)},
      {"handed-over.length-below-a-file", "stat writes a length for a path below a file",
       "the statistics are written only with OK", With(&Ops::stat, WritesBelowAFile)},
      {"handed-over.no-end-of-128", "get_children gives names of 128 bytes without their end",
       "every entry is a block of its own, none is NULL", With(&Ops::get_children, NoEndOf128)},
      {"handed-over.one-block-for-many", "more than 64 matches share one block",
       "every entry is a block of its own, none is NULL",
       With(&Ops::get_matching_paths, OneBlockForMany)},
      {"handed-over.no-status-behind-an-invalid-path",
       "paths_exist sets no status behind a path below a file", "each status is set, for each path",
       With(&Ops::paths_exist, StopsBelowAFile)},
      {"handed-over.loses-its-own-status",
       "paths_exist loses 16 bytes where it is given no statuses",
       "an op leaves the process as it found it", With(&Ops::paths_exist, LosesItsStatus)},
      {"handed-over.writer-of-a-directory",
       "new_appendable_file leaves a pointer in the object for a directory",
       "on an error the object stays as it came",
       With(&Ops::new_appendable_file, LeavesWriterOfADirectory)},
      {"handed-over.one-descriptor",
       "of two readers of a path the second fails when the first is cleaned up",
       "an object lives until its own cleanup",
       WithReaders(SharesDescriptor, ReadsShared, ClosesShared)},
      {"handed-over.one-block",
       "of two regions of a path the second changes when the first is cleaned up",
       "an object lives until its own cleanup",
       WithRegions(SharesBlock, SharedData, Mapping().length, WritesOverBlock)},
      {"handed-over.first-opening",
       "files that are opened while the first one is being opened are INTERNAL", kSeveral,
       With(&Ops::new_random_access_file, OpensWhenReady)},
      {"handed-over.first-listing",
       "directories that are listed while the first one is being listed are INTERNAL", kSeveral,
       With(&Ops::get_children, ListsWhenReady)},
  };
}

}  // namespace fakes
