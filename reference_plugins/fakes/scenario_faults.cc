// What shows in the course of things: when a checkpoint is saved, a model loaded, an event file
// followed.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

// Content that is remembered by path, until one of the ops that the fault thinks of changes
// something.

std::mutex seen_mutex;
std::map<std::string, std::shared_ptr<const std::string>> seen;
PerObject<std::shared_ptr<const std::string>> contents;

// All bytes of an open file.
std::string AllOf(Reader file) {
  std::string all;
  std::vector<char> buffer(64 << 10);
  const Scratch scratch;
  for (int64_t got = 1; got > 0;
       all.append(buffer.data(), static_cast<size_t>(std::max<int64_t>(got, 0))))
    got = Reading().read(file, all.size(), buffer.size(), buffer.data(), scratch.status());
  return all;
}

void OpensRemembered(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  std::shared_ptr<const std::string> content;
  {
    const std::lock_guard<std::mutex> lock(seen_mutex);
    auto& known = seen[path];
    if (known == nullptr) known = std::make_shared<const std::string>(AllOf(file));
    content = known;
  }
  contents.Set(file->plugin_file, content);
}

int64_t ReadsRemembered(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const auto content = contents.Of(file->plugin_file);
  return ReadOf(*content, offset, n, buffer, status);
}

// An op on one path, after which the fault forgets the content of this path.
template <auto Entry, typename... Rest>
auto ForgetsPath(Filesystem filesystem, Path path, Rest... rest) {
  (Right().*Entry)(filesystem, path, rest...);
  const std::lock_guard<std::mutex> lock(seen_mutex);
  seen.erase(path);
}

// An op after which the fault forgets all content.
template <auto Entry, typename... Arguments>
void ForgetsAll(Arguments... arguments) {
  if constexpr (std::is_invocable_v<decltype(Entry), const WriterOps&>) {
    (Writing().*Entry)(arguments...);
  } else {
    (Right().*Entry)(arguments...);
  }
  const std::lock_guard<std::mutex> lock(seen_mutex);
  seen.clear();
}

void Remembers(support::Tables& t) {
  t.filesystem.new_random_access_file = OpensRemembered;
  t.random_access_file.read = ReadsRemembered;
  t.random_access_file.cleanup = Forgets<contents>;
}

void ForgetsByPath(support::Tables& t) {
  Remembers(t);
  t.filesystem.new_writable_file = ForgetsPath<&Ops::new_writable_file>;
  t.filesystem.new_appendable_file = ForgetsPath<&Ops::new_appendable_file>;
  t.filesystem.delete_file = ForgetsPath<&Ops::delete_file>;
}

void ForgetsByOwnChanges(support::Tables& t) {
  Remembers(t);
  t.filesystem.new_writable_file = ForgetsAll<&Ops::new_writable_file>;
  t.filesystem.new_appendable_file = ForgetsAll<&Ops::new_appendable_file>;
  t.filesystem.delete_file = ForgetsAll<&Ops::delete_file>;
  t.filesystem.delete_recursively = ForgetsAll<&Ops::delete_recursively>;
  t.filesystem.rename_file = ForgetsAll<&Ops::rename_file>;
  t.filesystem.copy_file = ForgetsAll<&Ops::copy_file>;
  t.filesystem.flush_caches = ForgetsAll<&Ops::flush_caches>;
  t.writable_file.append = ForgetsAll<&WriterOps::append>;
  t.writable_file.close = ForgetsAll<&WriterOps::close>;
}

// What goes to another directory loses what is behind its first KiB.
void RenamesTheFirstBlock(Filesystem filesystem, Path source, Path target, Status status) {
  constexpr off_t kBlock = 1024;
  Right().rename_file(filesystem, source, target, status);
  struct stat facts;
  if (!Worked(status) || support::ParentOf(source) == support::ParentOf(target)) return;
  if (stat(target, &facts) == 0 && facts.st_size > kBlock && truncate(target, kBlock) != 0)
    TF_SetStatus(status, TF_INTERNAL, target);
}

// Where more than one name matches, the last one is left out.
int MatchesAllButOne(Filesystem filesystem, Path glob, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, glob, entries, status);
  if (count < 2 || std::strchr(glob, '?') == nullptr) return count;
  Names names = Taken(count, *entries);
  names.pop_back();
  return support::CopyNames(names, entries);
}

void SkipsEmptyDirectories(Filesystem filesystem, const std::string& path, Names& names) {
  LeaveOut(names, [&](const std::string& name) {
    const std::string child = Joined(path, name);
    return IsDirectory(filesystem, child) && Children(filesystem, child).empty();
  });
}

// A reader knows the size that the file had when it was opened.

PerObject<uint64_t> sizes;

void OpensWithSize(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  struct stat facts;
  if (!Worked(status) || stat(path, &facts) != 0) return;
  sizes.Set(file->plugin_file, static_cast<uint64_t>(facts.st_size));
}

int64_t ReadsToSize(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const uint64_t size = sizes.With(file->plugin_file, [](uint64_t known) { return known; });
  const size_t there = offset < size ? static_cast<size_t>(size - offset) : 0;
  if (n <= there) return Reading().read(file, offset, n, buffer, status);
  const int64_t got = there == 0 ? 0 : Reading().read(file, offset, there, buffer, status);
  TF_SetStatus(status, TF_OUT_OF_RANGE, "the end, as it was");
  return got;
}

int64_t ReadsToTheOldEnd(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const uint64_t size = sizes.With(file->plugin_file, [](uint64_t known) { return known; });
  return offset < size ? ReadsToSize(file, offset, n, buffer, status)
                       : Reading().read(file, offset, n, buffer, status);
}

// The size that is told is a byte short, and others go by it.

void StatsShort(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  Right().stat(filesystem, path, facts, status);
  if (Worked(status) && !facts->is_directory && facts->length > 0) facts->length -= 1;
}

void OpensWithShortSize(Filesystem filesystem, Path path, TF_RandomAccessFile* file,
                        Status status) {
  OpensWithSize(filesystem, path, file, status);
  if (!Worked(status)) return;
  sizes.With(file->plugin_file, [](uint64_t& size) { return size -= size > 0 ? 1 : 0; });
}

uint64_t ShortLength(Region region) { return Mapping().length(region) - 1; }

void ReadsByShortSize(support::Tables& t) {
  t.filesystem.stat = StatsShort;
  t.filesystem.get_file_size = nullptr;
  t.filesystem.new_random_access_file = OpensWithShortSize;
  t.random_access_file.read = ReadsToSize;
  t.random_access_file.cleanup = Forgets<sizes>;
}

// A file has no size before it is closed.

std::mutex written_mutex;
std::map<const void*, std::string> written;

void WritesUnsized(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(written_mutex);
  written[file->plugin_file] = path;
}

void ClosesSized(Writer file, Status status) {
  Writing().close(file, status);
  const std::lock_guard<std::mutex> lock(written_mutex);
  written.erase(file->plugin_file);
}

void ForgetsUnsized(TF_WritableFile* file) {
  {
    const std::lock_guard<std::mutex> lock(written_mutex);
    written.erase(file->plugin_file);
  }
  Writing().cleanup(file);
}

void StatsUnsized(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  Right().stat(filesystem, path, facts, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(written_mutex);
  for (const auto& [object, name] : written)
    if (name == path) facts->length = 0;
}

// Directories are those that the plugin made.

std::mutex own_mutex;
std::set<std::string> own;

template <auto Entry>
void Owns(Filesystem filesystem, Path path, Status status) {
  (Right().*Entry)(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(own_mutex);
  for (std::string made = path; Worked(status) && made.size() > 1; made = support::ParentOf(made))
    own.insert(made);
}

bool IsOwnDirectory(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  const std::lock_guard<std::mutex> lock(own_mutex);
  if (!is_directory || own.count(path) != 0) return is_directory;
  TF_SetStatus(status, TF_NOT_FOUND, path);
  return false;
}

// Of the files that were closed last half is in the process only, until somebody there looks at
// them.

constexpr size_t kBehind = 6;
std::mutex behind_mutex;
std::vector<std::pair<std::string, std::string>> behind;  // paths and contents, oldest first
PerObject<std::string> writers;

void Settle(const std::pair<std::string, std::string>& one) {
  std::ofstream(one.first, std::ios::binary) << one.second;
}

void Settle(const std::string& path) {
  const std::lock_guard<std::mutex> lock(behind_mutex);
  for (const auto& one : behind)
    if (one.first == path) Settle(one);
  LeaveOut(behind, [&](const auto& one) { return one.first == path; });
}

// An op that looks at a path.
template <auto Entry, typename... Rest>
auto SettlesFirst(Filesystem filesystem, Path path, Rest... rest) {
  Settle(std::string(path));
  return (Right().*Entry)(filesystem, path, rest...);
}

template <auto Entry>
void OpensBehind(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Settle(std::string(path));
  (Right().*Entry)(filesystem, path, file, status);
  if (Worked(status)) writers.Set(file->plugin_file, path);
}

void ClosesBehind(Writer file, Status status) {
  Writing().close(file, status);
  if (!Worked(status)) return;
  const std::string path = writers.Of(file->plugin_file);
  const std::string content = Whole(path);
  if (truncate(path.c_str(), static_cast<off_t>(content.size() / 2)) != 0) return;
  const std::lock_guard<std::mutex> lock(behind_mutex);
  behind.emplace_back(path, content);
  if (behind.size() <= kBehind) return;
  Settle(behind.front());
  behind.erase(behind.begin());
}

void RenamesBehind(Filesystem filesystem, Path source, Path target, Status status) {
  Settle(std::string(target));
  Right().rename_file(filesystem, source, target, status);
  const std::lock_guard<std::mutex> lock(behind_mutex);
  for (auto& one : behind)
    if (Worked(status) && one.first == source) one.first = target;
}

}  // namespace

std::vector<Fault> ScenarioFaults() {
  constexpr const char* kNow = "a file that is opened now has the content that it has now";
  return {
      {"scenario.content-outlives-rename",
       "the content of a path is remembered, and a rename does not change that", kNow,
       ForgetsByPath},
      {"scenario.content-until-own-changes",
       "the content of a path is remembered until the plugin itself changes something", kNow,
       ForgetsByOwnChanges},
      {"scenario.first-block-moves",
       "what is renamed into another directory keeps its first KiB only",
       "the target has the content of the source", With(&Ops::rename_file, RenamesTheFirstBlock)},
      {"scenario.one-match-less", "of several matches of a pattern with ? the last is left out",
       "all that matches is found", With(&Ops::get_matching_paths, MatchesAllButOne)},
      {"scenario.no-empty-directories", "directories with nothing in them are not listed",
       "every child is listed, once",
       With(&Ops::get_children, Lists<&Ops::get_children, SkipsEmptyDirectories>)},
      {"scenario.size-at-open", "a reader never sees more than there was when it was opened",
       "who follows a file sees what is flushed",
       WithReaders(OpensWithSize, ReadsToSize, Forgets<sizes>)},
      {"scenario.old-end-is-kept",
       "a read that begins in what was there when the file was opened ends there",
       "who follows a file sees what is flushed",
       WithReaders(OpensWithSize, ReadsToTheOldEnd, Forgets<sizes>)},
      {"scenario.short-size-is-read",
       "stat tells one byte too few, and reads end there; sizes are left to core",
       "the statistics are those of the path", ReadsByShortSize},
      {"scenario.short-size-is-mapped",
       "stat tells one byte too few, and reads and regions end there; sizes are left to core",
       "length is the size of the file",
       Together(ReadsByShortSize, With(&RegionOps::length, ShortLength))},
      {"scenario.size-at-close", "stat tells 0 bytes of a file that is being written",
       "what was flushed counts",
       Together(With(&Ops::new_writable_file, WritesUnsized), With(&WriterOps::close, ClosesSized),
                With(&WriterOps::cleanup, ForgetsUnsized), With(&Ops::stat, StatsUnsized))},
      {"scenario.writes-behind",
       "of the six files that were closed last half is in the process only",
       "what is closed is there for others",
       Together(With(&Ops::new_writable_file, OpensBehind<&Ops::new_writable_file>),
                With(&Ops::new_appendable_file, OpensBehind<&Ops::new_appendable_file>),
                With(&Ops::new_random_access_file, SettlesFirst<&Ops::new_random_access_file>),
                With(&Ops::new_read_only_memory_region_from_file,
                     SettlesFirst<&Ops::new_read_only_memory_region_from_file>),
                With(&Ops::stat, SettlesFirst<&Ops::stat>),
                With(&Ops::get_file_size, SettlesFirst<&Ops::get_file_size>),
                With(&Ops::copy_file, SettlesFirst<&Ops::copy_file>),
                With(&Ops::delete_file, SettlesFirst<&Ops::delete_file>),
                With(&Ops::rename_file, RenamesBehind), With(&WriterOps::close, ClosesBehind),
                With(&WriterOps::cleanup, Forgets<writers>))},
      {"scenario.own-directories", "is_directory knows the directories that the plugin made",
       "what others made is there, too",
       Together(With(&Ops::create_dir, Owns<&Ops::create_dir>),
                With(&Ops::recursively_create_dir, Owns<&Ops::recursively_create_dir>),
                With(&Ops::is_directory, IsOwnDirectory))},
  };
}

}  // namespace fakes
