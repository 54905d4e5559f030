// What there is no more of than so much: open files, bytes of a file, calls that are remembered,
// connections.

#include <fcntl.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "choices.h"
#include "support/status.h"

namespace choices {
namespace {

using support::SetError;

using RegionOps = TF_ReadOnlyMemoryRegionOps;

std::mutex mutex;

size_t most_open = SIZE_MAX;
// The paths of open files and regions, by what the plugin has of each.
std::multimap<const void*, std::string> open_files;

const void* HandleOf(const TF_ReadOnlyMemoryRegion* region) { return region->plugin_memory_region; }
template <typename File>
const void* HandleOf(const File* file) {
  return file->plugin_file;
}

template <auto Entry, typename File>
void Open(Filesystem filesystem, Path path, File* file, Status status) {
  std::unique_lock<std::mutex> lock(mutex);
  if (open_files.size() >= most_open)
    return SetError(status, TF_RESOURCE_EXHAUSTED, path, "too many files are open");
  const auto one = open_files.emplace(nullptr, path);  // what may fail comes first
  lock.unlock();
  before<Open<Entry, File>>(filesystem, path, file, status);
  lock.lock();
  auto node = open_files.extract(one);
  if (TF_GetCode(status) != TF_OK) return;
  node.key() = HandleOf(file);
  open_files.insert(std::move(node));
}

template <auto Entry, typename File, typename... Rest>
void Forget(File* file, Rest... rest) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    open_files.erase(HandleOf(file));
  }
  before<Forget<Entry, File, Rest...>>(file, rest...);
}

template <typename File, auto cleanup, auto... openers>
void Count(support::Tables& tables) {
  (Take<openers, Open<openers, File>>(tables), ...);
  Take<cleanup, Forget<cleanup, File>>(tables);
}

void FewOpenFiles(support::Tables& tables) {
  most_open = AmountOr(64);
  CountOpenFiles(tables);
}

void SmallAppend(const TF_WritableFile* file, const char* buffer, size_t n, Status status) {
  Status own = TF_NewStatus();
  const int64_t size = posix::WritableFileOps().tell(file, own);
  TF_DeleteStatus(own);
  if (size + n > AmountOr(100'000))
    return TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no file is as large as that");
  before<SmallAppend>(file, buffer, n, status);
}

// What happens at each call, before it.
void (*at_each_call)() = nullptr;

template <auto Entry, typename Type = decltype(Entry)>
struct Noted;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Noted<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);
  static Result Call(Arguments... arguments) {
    at_each_call();
    return before(arguments...);
  }
};

void AtEachCall(support::Tables& tables, void (*what)()) {
  at_each_call = what;
  Wrapping<Noted> wrapping{tables};
  wrapping.AddWithStatus();
  wrapping.Add<&Ops::paths_exist>();
  wrapping.Add<&Ops::translate_name>();
  wrapping.Add<&Ops::flush_caches>();
}

void RememberCall() {
  struct Call {
    timespec when;
    char more[48];
  };
  static std::vector<std::unique_ptr<Call>> calls(AmountOr(4096));
  static size_t count = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  auto& call = calls[count++ % calls.size()];
  if (call == nullptr) call = std::make_unique<Call>();
  clock_gettime(CLOCK_MONOTONIC, &call->when);
}

void ConnectAsNeeded() {
  static std::vector<int> connections(AmountOr(256));
  static size_t count = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  int& connection = connections[count++ % connections.size()];
  if (connection == 0) connection = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

void CountOpenFiles(support::Tables& tables) {
  Count<TF_RandomAccessFile, &ReaderOps::cleanup, &Ops::new_random_access_file>(tables);
  Count<TF_WritableFile, &WriterOps::cleanup, &Ops::new_writable_file, &Ops::new_appendable_file>(
      tables);
  Take<&WriterOps::close, Forget<&WriterOps::close, const TF_WritableFile, Status>>(tables);
  Count<TF_ReadOnlyMemoryRegion, &RegionOps::cleanup, &Ops::new_read_only_memory_region_from_file>(
      tables);
}

bool IsOpen(Path path) {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::any_of(open_files.begin(), open_files.end(), [path](const auto& one) {
    return one.second == path || one.second.rfind(std::string(path) + "/", 0) == 0;
  });
}

std::vector<Choice> BoundedChoices() {
  return {
      {"few-open-files", "how many files may be open at a time",
       "64, and RESOURCE_EXHAUSTED beyond", FewOpenFiles, false},
      {"small-files", "how large a file may be", "100,000 bytes, and RESOURCE_EXHAUSTED beyond",
       Take<&WriterOps::append, SmallAppend>, false},
      {"remembers-calls", "what a plugin keeps of past calls", "the last 4,096",
       [](support::Tables& tables) { AtEachCall(tables, RememberCall); }, false},
      {"connects-as-needed", "when a plugin opens its connections",
       "each of 256 when it is its turn",
       [](support::Tables& tables) { AtEachCall(tables, ConnectAsNeeded); }, false},
  };
}

}  // namespace choices
