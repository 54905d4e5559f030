// What one op answered once for a path it answers again, until something has changed the path. One
// change it does not notice.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "faults.h"
#include "kernel.h"
#include "names.h"
#include "support/memory.h"

namespace fakes {
namespace {

using Bytes = std::shared_ptr<const std::string>;

// An answer, as far as the op gives one.
struct Answer {
  TF_Code code = TF_OK;
  bool is_of_directory = false;
  int64_t number = 0;
  TF_FileStatistics facts = {};
  Names names;
  Bytes content;
};

std::mutex mutex;
std::map<std::string, Answer> known;
std::string unnoticed;  // the change
uintmax_t least = 0;    // the bytes of a file from which on an answer is remembered

bool IsBelow(const std::string& path, const std::string& directory) {
  return path.compare(0, directory.size() + 1, directory + "/") == 0;
}

// `change` was done to `path`: forgets it, what is above and what is below, and every pattern.
void Changed(const std::string& change, const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto one = known.begin(); one != known.end();) {
    const bool is_below = IsBelow(one->first, path);
    const bool is_of_it = is_below || one->first == path || IsBelow(path, one->first) ||
                          one->first.find_first_of("*?[") != std::string::npos;
    const bool stays = change == unnoticed || (is_below && change + "-below" == unnoticed);
    one = is_of_it && !stays ? known.erase(one) : std::next(one);
  }
}

// The changes

template <auto Entry>
std::string name_of;  // an op's name, which is that of the change

template <auto Entry, typename... Rest>
void Changes(Filesystem filesystem, Path path, Rest... rest) {
  (Right().*Entry)(filesystem, path, rest...);
  Changed(name_of<Entry>, path);
}

struct Opened {
  std::string change;
  std::string path;
};
PerObject<Opened> opened;

template <auto Entry>
void Opens(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Changes<Entry>(filesystem, path, file, status);
  if (Worked(status)) opened.Set(file->plugin_file, {name_of<Entry>, path});
}

template <auto Entry, typename... Rest>
void Writes(Writer file, Rest... rest) {
  (Writing().*Entry)(file, rest...);
  const Opened mine = opened.Of(file->plugin_file);
  Changed(mine.change, mine.path);
}

void ForgetsWriter(TF_WritableFile* file) {
  const void* object = file->plugin_file;
  const Opened mine = opened.Of(object);
  Writing().cleanup(file);
  Changed(mine.change, mine.path);
  opened.Forget(object);
}

void Renames(Filesystem filesystem, Path source, Path target, Status status) {
  // Who remembers what lies below a directory renames directories.
  if (unnoticed == "rename_file-below")
    RenamesADirectory(filesystem, source, target, status);
  else
    Right().rename_file(filesystem, source, target, status);
  Changed("rename_file", source);
  if (unnoticed != "rename_file-target") Changed("rename_file", target);
}

void Copies(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  Changed("copy_file", target);
}

void Flushes(Filesystem) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (unnoticed == "flush_caches") return;
  for (auto one = known.begin(); one != known.end();) {
    const bool stays = one->second.is_of_directory && unnoticed == "flush_caches-of-directories";
    one = stays ? std::next(one) : known.erase(one);
  }
}

template <auto Entry>
void Watch(support::Tables& tables, const char* name) {
  name_of<Entry> = name;
  tables.filesystem.*Entry = Changes<Entry>;
}

template <auto Entry>
void WatchOpening(support::Tables& tables, const char* name) {
  name_of<Entry> = name;
  tables.filesystem.*Entry = Opens<Entry>;
}

void WatchAll(support::Tables& tables, const std::string& change) {
  unnoticed = change;
  WatchOpening<&Ops::new_writable_file>(tables, "new_writable_file");
  WatchOpening<&Ops::new_appendable_file>(tables, "new_appendable_file");
  Watch<&Ops::create_dir>(tables, "create_dir");
  Watch<&Ops::recursively_create_dir>(tables, "recursively_create_dir");
  Watch<&Ops::delete_file>(tables, "delete_file");
  Watch<&Ops::delete_dir>(tables, "delete_dir");
  Watch<&Ops::delete_recursively>(tables, "delete_recursively");
  tables.filesystem.rename_file = Renames;
  tables.filesystem.copy_file = Copies;
  tables.filesystem.flush_caches = Flushes;
  tables.writable_file.append = Writes<&WriterOps::append>;
  tables.writable_file.flush = Writes<&WriterOps::flush>;
  tables.writable_file.sync = Writes<&WriterOps::sync>;
  tables.writable_file.close = Writes<&WriterOps::close>;
  tables.writable_file.cleanup = ForgetsWriter;
}

// The ops that look

bool IsSmall(Path path) {
  std::error_code error;
  return least > 0 && (std::filesystem::file_size(path, error) < least || error);
}

// What is known of `path`, or what `ask` finds out and writes.
template <typename Ask>
Answer Remembered(Path path, Status status, Ask ask) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = known.find(path);
  if (found != known.end() && IsSmall(path)) found = (known.erase(found), known.end());
  if (found == known.end()) {
    Answer fresh;
    ask(fresh);
    fresh.code = TF_GetCode(status);
    std::error_code error;  // of a name that is too long
    fresh.is_of_directory = std::filesystem::is_directory(path, error);
    found = known.emplace(path, fresh).first;
  }
  TF_SetStatus(status, found->second.code, found->second.code == TF_OK ? "" : path);
  return found->second;
}

void PathExists(Filesystem filesystem, Path path, Status status) {
  Remembered(path, status, [&](Answer&) { Right().path_exists(filesystem, path, status); });
}

bool PathsExist(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  bool all = true;
  for (int k = 0; k < count; ++k) {
    const Scratch scratch;
    Status status = statuses == nullptr ? scratch.status() : statuses[k];
    PathExists(filesystem, paths[k], status);
    all = all && Worked(status);
  }
  return all;
}

void Stat(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  const Answer answer = Remembered(
      path, status, [&](Answer& one) { Right().stat(filesystem, path, &one.facts, status); });
  if (answer.code == TF_OK) *facts = answer.facts;
}

int64_t GetFileSize(Filesystem filesystem, Path path, Status status) {
  return Remembered(
             path, status,
             [&](Answer& one) { one.number = Right().get_file_size(filesystem, path, status); })
      .number;
}

bool IsDirectory(Filesystem filesystem, Path path, Status status) {
  return Remembered(path, status, [&](Answer& one) {
           one.number = Right().is_directory(filesystem, path, status) ? 1 : 0;
         }).number == 1;
}

template <auto Entry>
int Lists(Filesystem filesystem, Path path, char*** entries, Status status) {
  const Answer answer = Remembered(path, status, [&](Answer& one) {
    one.number = (Right().*Entry)(filesystem, path, entries, status);
    if (one.number >= 0) one.names = Taken(static_cast<int>(one.number), *entries);
  });
  return answer.number < 0 ? -1 : support::CopyNames(answer.names, entries);
}

// What one op saw of the content of a path, first, another one answers, as long as the file has as
// many bytes; nothing that changes the path is noticed.

bool is_of_sight = false;
std::map<std::string, std::string> seen;  // the first bytes, by the path and the size

std::string SeenAs(const std::string& path) {
  std::error_code error;
  return path + ":" + std::to_string(std::filesystem::file_size(path, error));
}

void Sees(const std::string& path, const std::string& bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  seen.emplace(SeenAs(path), bytes.substr(0, 64 << 10));
}

// The content of a file as it was seen.
std::string AsSeen(const std::string& path) {
  std::string bytes = Whole(path);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = seen.find(SeenAs(path));
  if (found != seen.end()) bytes.replace(0, found->second.size(), found->second);
  return bytes;
}

Bytes ContentOf(Path path, Status status) {
  if (is_of_sight) return std::make_shared<const std::string>(AsSeen(path));
  return Remembered(
             path, status,
             [&](Answer& one) { one.content = std::make_shared<const std::string>(Whole(path)); })
      .content;
}

PerObject<Bytes> contents;

void NewRegion(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  const Bytes content = ContentOf(path, status);
  contents.Set(region->plugin_memory_region, content);
}

const void* Data(Region region) {
  return contents.With(region->plugin_memory_region, [](Bytes& mine) { return mine->data(); });
}

uint64_t Length(Region region) {
  return contents.With(region->plugin_memory_region, [](Bytes& mine) { return mine->size(); });
}

// A reader of what is known; of a file that is not known it is the right one.
void NewReader(Filesystem filesystem, Path path, TF_RandomAccessFile* file, Status status) {
  Right().new_random_access_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  const Bytes content = ContentOf(path, status);
  if (Whole(path) == *content) return;
  contents.Set(file->plugin_file, content);
}

int64_t Read(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const Bytes content = contents.Of(file->plugin_file);
  if (content == nullptr) return Reading().read(file, offset, n, buffer, status);
  return ReadOf(*content, offset, n, buffer, status);
}

void CopiesKnown(Filesystem filesystem, Path source, Path target, Status status) {
  Copies(filesystem, source, target, status);
  if (!Worked(status) || std::string(source) == target) return;
  std::ofstream(target, std::ios::binary) << *ContentOf(source, status);
}

// The ops that see.

PerObject<std::string> paths;

int64_t ReadsAndSees(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  const std::string path = paths.Of(file->plugin_file);
  if (offset == 0 && got > 0) Sees(path, {buffer, static_cast<size_t>(got)});
  return got;
}

void MapsAndSees(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  Sees(path, {static_cast<const char*>(Mapping().data(region)), Mapping().length(region)});
}

void CopiesAndSees(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (Worked(status)) Sees(source, AsSeen(source));
}

struct Looker {
  std::string op;
  std::function<void(support::Tables&)> sees;  // for those that look at the content
  std::function<void(support::Tables&)> apply;
};

std::vector<Looker> Lookers() {
  return {
      {"path_exists", nullptr, With(&Ops::path_exists, PathExists)},
      {"paths_exist", nullptr, With(&Ops::paths_exist, PathsExist)},
      {"stat", nullptr, With(&Ops::stat, Stat)},
      {"get_file_size", nullptr, With(&Ops::get_file_size, GetFileSize)},
      {"is_directory", nullptr, With(&Ops::is_directory, IsDirectory)},
      {"get_children", nullptr, With(&Ops::get_children, Lists<&Ops::get_children>)},
      {"get_matching_paths", nullptr,
       With(&Ops::get_matching_paths, Lists<&Ops::get_matching_paths>)},
      {"new_read_only_memory_region_from_file",
       With(&Ops::new_read_only_memory_region_from_file, MapsAndSees),
       WithRegions(NewRegion, Data, Length, Forgets<contents>)},
      {"new_random_access_file",
       [](support::Tables& t) {
         t.filesystem.new_random_access_file = Notes<&Ops::new_random_access_file, paths>;
         t.random_access_file = {Forgets<paths>, ReadsAndSees};
       },
       WithReaders(NewReader, Read, Forgets<contents>)},
      {"copy_file", With(&Ops::copy_file, CopiesAndSees), With(&Ops::copy_file, CopiesKnown)},
  };
}

// Adds the faults of what one op sees for another.
void AddSeen(std::vector<Fault>& faults) {
  for (const Looker& one : Lookers()) {
    for (const Looker& other : Lookers()) {
      if (one.sees == nullptr || other.sees == nullptr || one.op == other.op) continue;
      faults.push_back({"seen-by-" + one.op + ":" + other.op,
                        "gives the first 64 KiB that another op saw, where the file is as long",
                        "an op sees what has been done", [=](support::Tables& tables) {
                          is_of_sight = true;
                          one.sees(tables);
                          other.apply(tables);
                        }});
    }
  }
}

// Adds the faults of what is remembered of files from a size on.
void AddLarge(std::vector<Fault>& faults) {
  for (const Looker& looker : Lookers()) {
    const std::string& op = looker.op;
    if (op != "stat" && op != "get_file_size") continue;
    for (const uintmax_t kib : {64, 1024, 8192}) {
      for (const std::string change :
           {"new_writable_file", "new_appendable_file", "rename_file-target", "copy_file"}) {
        faults.push_back({"stale-from-" + std::to_string(kib) + "-kib-after-" + change + ":" + op,
                          "answers of a file of so many KiB what it answered before, until "
                          "something else changes the path",
                          "an op sees what has been done", [=](support::Tables& tables) {
                            WatchAll(tables, change);
                            least = kib << 10;
                            looker.apply(tables);
                          }});
      }
    }
  }
}

}  // namespace

std::vector<Fault> StaleFaults() {
  std::vector<Fault> faults;
  for (const Looker& looker : Lookers()) {
    for (const std::string change :
         {"new_writable_file", "new_appendable_file", "rename_file", "rename_file-target",
          "copy_file", "flush_caches", "flush_caches-of-directories", "create_dir",
          "recursively_create_dir", "delete_file", "delete_dir", "delete_recursively",
          "delete_recursively-below", "rename_file-below"}) {
      const std::string op = looker.op;
      // Content is asked for where there is a file; and a pattern is forgotten whole.
      const bool is_of_names = change.find("dir") != std::string::npos || change[0] == 'd';
      const bool is_of_one = change.find('-') != std::string::npos;
      if ((looker.sees != nullptr && is_of_names) || (op == "get_matching_paths" && is_of_one))
        continue;
      faults.push_back({"stale-after-" + change + ":" + op,
                        "answers what it answered before, until something else changes the path",
                        "an op sees what has been done", [=](support::Tables& tables) {
                          WatchAll(tables, change);
                          looker.apply(tables);
                        }});
    }
  }
  AddSeen(faults);
  AddLarge(faults);
  return faults;
}

}  // namespace fakes
