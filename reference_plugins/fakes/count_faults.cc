// Faults that show from some number on: of entries, of levels, of paths at once, of objects held.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "faults.h"
#include "names.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

using Filesystem = const TF_Filesystem*;
using Names = std::vector<std::string>;

const TF_FilesystemOps& Right() { return Real().filesystem; }

bool Worked(TF_Status* status) { return TF_GetCode(status) == TF_OK; }

constexpr size_t kPage = 1000;

bool IsDirectory(Filesystem filesystem, const std::string& path) {
  return Right().is_directory(filesystem, path.c_str(), Scratch().status());
}

// The names in a directory, as a store would give them.
Names Sorted(Filesystem filesystem, const std::string& directory) {
  Names names = Children(filesystem, directory);
  std::sort(names.begin(), names.end());
  return names;
}

// Deletes what is in a full page, and takes the page for the last one.
void KeepsAfterAFullPage(Filesystem filesystem, const char* path, uint64_t* files, uint64_t* dirs,
                         TF_Status* status) {
  const size_t count = Children(filesystem, path).size();
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (Worked(status) && count > 0 && count % kPage == 0)
    Right().create_dir(filesystem, path, status);
}

// Goes down into one page of directories.
void KeepsDirectoriesBehindAPage(Filesystem filesystem, const char* path, uint64_t* files,
                                 uint64_t* dirs, TF_Status* status) {
  Names kept = Sorted(filesystem, path);
  kept.erase(std::remove_if(kept.begin(), kept.end(),
                            [&](const std::string& one) {
                              return !IsDirectory(filesystem, Joined(path, one));
                            }),
             kept.end());
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status) || kept.size() <= kPage) return;
  Right().create_dir(filesystem, path, status);
  for (size_t k = kPage; k < kept.size(); ++k)
    Right().create_dir(filesystem, Joined(path, kept[k]).c_str(), status);
}

int LevelsBelow(Filesystem filesystem, const std::string& path) {
  int most = 0;
  for (const std::string& name : Children(filesystem, path))
    most = std::max(most, 1 + LevelsBelow(filesystem, Joined(path, name)));
  return most;
}

void DeletesToDepth(Filesystem filesystem, const char* path, uint64_t* files, uint64_t* dirs,
                    TF_Status* status) {
  if (LevelsBelow(filesystem, path) <= 32)
    return Right().delete_recursively(filesystem, path, files, dirs, status);
  *files = *dirs = 0;
  TF_SetStatus(status, TF_OK, "");
}

void MakesSixteenLevels(Filesystem filesystem, const char* path, TF_Status* status) {
  std::string top = path;
  for (Names missing; !IsDirectory(filesystem, top) && top.size() > 1;) {
    missing.push_back(top);
    top = support::ParentOf(top);
    if (missing.size() > 16) {
      missing.erase(missing.begin());
      const std::string deepest = missing.front();
      if (IsDirectory(filesystem, top))
        return Right().recursively_create_dir(filesystem, deepest.c_str(), status);
    }
  }
  Right().recursively_create_dir(filesystem, path, status);
}

// get_children with an edit of the sorted names.
template <void (*edit)(Names*)>
int Edited(Filesystem filesystem, const char* path, char*** entries, TF_Status* status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count < static_cast<int>(kPage)) return count;
  Names names = Taken(count, *entries);
  std::sort(names.begin(), names.end());
  edit(&names);
  return support::CopyNames(names, entries);
}

// Of all pages but the first, only what looks like a directory is taken.
int LosesFilesBehindThePage(Filesystem filesystem, const char* path, char*** entries,
                            TF_Status* status) {
  const int count = Right().get_children(filesystem, path, entries, status);
  if (count <= static_cast<int>(kPage)) return count;
  Names names = Taken(count, *entries);
  std::sort(names.begin(), names.end());
  names.erase(std::remove_if(names.begin() + kPage, names.end(),
                             [&](const std::string& one) {
                               return !IsDirectory(filesystem, Joined(path, one));
                             }),
              names.end());
  return support::CopyNames(names, entries);
}

void LosesOneBehindThePage(Names* names) {
  if (names->size() == kPage + 1) names->pop_back();
}

void LosesTheThirdPage(Names* names) { names->resize(std::min(names->size(), 2 * kPage)); }

void RepeatsAtThePage(Names* names) {
  if (names->size() > kPage) names->push_back((*names)[kPage]);
}

// Of a directory the first page is matched.
int MatchesTheFirstPage(Filesystem filesystem, const char* pattern, char*** entries,
                        TF_Status* status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count <= 0) return count;
  Names kept;
  std::map<std::string, Names> pages;
  for (const std::string& match : Taken(count, *entries)) {
    const std::string path(support::ParseUri(match).path);
    const std::string directory = support::ParentOf(path);
    if (pages.count(directory) == 0) {
      pages[directory] = Sorted(filesystem, directory);
      pages[directory].resize(std::min(pages[directory].size(), kPage));
    }
    const std::string name = path.substr(path.find_last_of('/') + 1);
    const Names& page = pages[directory];
    if (page.size() < kPage || std::binary_search(page.begin(), page.end(), name))
      kept.push_back(match);
  }
  return support::CopyNames(kept, entries);
}

// A directory is looked up among the keys that begin with its name, of which there is one page.
void ExistsOnTheFirstPage(Filesystem filesystem, const char* path, TF_Status* status) {
  Right().path_exists(filesystem, path, status);
  if (!Worked(status) || !IsDirectory(filesystem, path)) return;
  const std::string own = std::string(path).substr(std::string(path).find_last_of('/') + 1);
  const Names names = Children(filesystem, support::ParentOf(path));
  const auto comes_first = [&](const std::string& name) {
    return name != own && name.compare(0, own.size(), own) == 0 && name < own + "/";
  };
  if (std::count_if(names.begin(), names.end(), comes_first) >= static_cast<int>(kPage))
    TF_SetStatus(status, TF_NOT_FOUND, path);
}

// A directory that holds nothing but an empty directory counts as empty.
void DeletesTwo(Filesystem filesystem, const char* path, TF_Status* status) {
  const Names names = Children(filesystem, path);
  if (names.size() == 1 && IsDirectory(filesystem, Joined(path, names[0])))
    Right().delete_dir(filesystem, Joined(path, names[0]).c_str(), Scratch().status());
  Right().delete_dir(filesystem, path, status);
}

// What is behind the first batch is not asked for.
bool AsksOneBatch(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  return Right().paths_exist(filesystem, paths, std::min(count, static_cast<int>(kPage)), statuses);
}

// Of more than 16 regions held, the oldest shows what the newest does.

std::mutex held_mutex;
std::deque<const void*> held;
std::map<const void*, const void*> shows;

void HoldsSixteen(Filesystem filesystem, const char* path, TF_ReadOnlyMemoryRegion* region,
                  TF_Status* status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(held_mutex);
  held.push_back(region->plugin_memory_region);
  if (held.size() > 16) shows[held[held.size() - 17]] = region->plugin_memory_region;
}

TF_ReadOnlyMemoryRegion Shown(const TF_ReadOnlyMemoryRegion* region) {
  const std::lock_guard<std::mutex> lock(held_mutex);
  const auto other = shows.find(region->plugin_memory_region);
  return other == shows.end() ? *region : TF_ReadOnlyMemoryRegion{const_cast<void*>(other->second)};
}

const void* ShowsData(const TF_ReadOnlyMemoryRegion* region) {
  const TF_ReadOnlyMemoryRegion shown = Shown(region);
  return Real().memory_region.data(&shown);
}

uint64_t ShowsLength(const TF_ReadOnlyMemoryRegion* region) {
  const TF_ReadOnlyMemoryRegion shown = Shown(region);
  return Real().memory_region.length(&shown);
}

void LetsGo(TF_ReadOnlyMemoryRegion* region) {
  {
    const std::lock_guard<std::mutex> lock(held_mutex);
    held.erase(std::remove(held.begin(), held.end(), region->plugin_memory_region), held.end());
    shows.erase(region->plugin_memory_region);
    for (auto one = shows.begin(); one != shows.end();)
      one = one->second == region->plugin_memory_region ? shows.erase(one) : std::next(one);
  }
  Real().memory_region.cleanup(region);
}

}  // namespace

std::vector<Fault> CountFaults() {
  constexpr const char* kGone = "the tree is gone after OK";
  constexpr const char* kListed = "every child is listed, once";
  return {
      {"counts.full-page-is-the-last",
       "delete_recursively keeps a directory of 1,000 entries, or of a multiple, with OK", kGone,
       [](support::Tables& t) { t.filesystem.delete_recursively = KeepsAfterAFullPage; }},
      {"counts.directories-behind-a-page",
       "delete_recursively keeps what is behind 1,000 directories of a directory, with OK", kGone,
       [](support::Tables& t) { t.filesystem.delete_recursively = KeepsDirectoriesBehindAPage; }},
      {"counts.deletes-32-levels", "delete_recursively says OK of more levels, and deletes nothing",
       kGone, [](support::Tables& t) { t.filesystem.delete_recursively = DeletesToDepth; }},
      {"counts.makes-16-levels", "recursively_create_dir makes 16 levels at most, with OK",
       "parents that are missing are created",
       [](support::Tables& t) { t.filesystem.recursively_create_dir = MakesSixteenLevels; }},
      {"counts.one-behind-the-page", "get_children loses the last of 1,001 entries", kListed,
       [](support::Tables& t) { t.filesystem.get_children = Edited<LosesOneBehindThePage>; }},
      {"counts.no-files-behind-the-page",
       "get_children lists no files behind the first 1,000 entries", kListed,
       [](support::Tables& t) { t.filesystem.get_children = LosesFilesBehindThePage; }},
      {"counts.no-third-page", "get_children lists 2,000 entries at most", kListed,
       [](support::Tables& t) { t.filesystem.get_children = Edited<LosesTheThirdPage>; }},
      {"counts.repeated-at-the-page", "get_children lists entry 1,001 twice", kListed,
       [](support::Tables& t) { t.filesystem.get_children = Edited<RepeatsAtThePage>; }},
      {"counts.matches-the-first-page",
       "get_matching_paths looks at 1,000 names of a directory at most",
       "all that matches is found",
       [](support::Tables& t) { t.filesystem.get_matching_paths = MatchesTheFirstPage; }},
      {"counts.exists-on-the-first-page",
       "path_exists knows no directory behind 1,000 siblings that begin with its name",
       "a directory exists",
       [](support::Tables& t) { t.filesystem.path_exists = ExistsOnTheFirstPage; }},
      {"counts.one-directory-is-none",
       "delete_dir takes a directory that holds one empty directory for empty",
       "a directory that is not empty is FAILED_PRECONDITION",
       [](support::Tables& t) { t.filesystem.delete_dir = DeletesTwo; }},
      {"counts.one-batch", "paths_exist asks for 1,000 paths at most",
       "each status is set, for each path",
       [](support::Tables& t) { t.filesystem.paths_exist = AsksOneBatch; }},
      {"counts.sixteen-regions", "of more than 16 regions the oldest shows what the newest does",
       "data points at the bytes of the file, the same until cleanup",
       [](support::Tables& t) {
         t.filesystem.new_read_only_memory_region_from_file = HoldsSixteen;
         t.memory_region = {LetsGo, ShowsData, ShowsLength};
       }},
  };
}

}  // namespace fakes
