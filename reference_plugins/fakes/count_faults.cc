// Faults that show from some number on: of entries, of levels, of paths at once, of objects held.

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "faults.h"
#include "names.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

// Deletes what is in a full page, and takes the page for the last one.
void KeepsAfterAFullPage(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                         Status status) {
  const size_t count = Children(filesystem, path).size();
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (Worked(status) && count > 0 && count % kPage == 0)
    Right().create_dir(filesystem, path, status);
}

// Goes down into one page of directories.
void KeepsDirectoriesBehindAPage(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                                 Status status) {
  Names kept = Sorted(filesystem, path);
  LeaveOut(kept,
           [&](const std::string& one) { return !IsDirectory(filesystem, Joined(path, one)); });
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status) || kept.size() <= kPage) return;
  Right().create_dir(filesystem, path, status);
  for (size_t k = kPage; k < kept.size(); ++k)
    Right().create_dir(filesystem, Joined(path, kept[k]).c_str(), status);
}

// Asks for one page of what a directory within the tree holds.
void KeepsPagesBelow(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                     Status status) {
  Names kept;
  for (const std::string& name : Children(filesystem, path)) {
    const std::string below = Joined(path, name);
    const Names names = Sorted(filesystem, below);
    for (size_t k = kPage; k < names.size(); ++k) kept.push_back(Joined(below, names[k]));
  }
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status)) return;
  for (const std::string& one : kept)
    Right().recursively_create_dir(filesystem, one.c_str(), status);
}

// Deletes what one buffer holds the names of.
void KeepsWhatHasNoRoom(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                        Status status) {
  const Names names = Sorted(filesystem, path);
  Right().delete_recursively(filesystem, path, files, dirs, status);
  if (!Worked(status)) return;
  for (size_t k = Fitting(names); k < names.size(); ++k)
    Right().recursively_create_dir(filesystem, Joined(path, names[k]).c_str(), status);
}

int LevelsBelow(Filesystem filesystem, const std::string& path) {
  int most = 0;
  for (const std::string& name : Children(filesystem, path))
    most = std::max(most, 1 + LevelsBelow(filesystem, Joined(path, name)));
  return most;
}

template <int most>
void DeletesToDepth(Filesystem filesystem, Path path, uint64_t* files, uint64_t* dirs,
                    Status status) {
  if (LevelsBelow(filesystem, path) <= most)
    return Right().delete_recursively(filesystem, path, files, dirs, status);
  *files = *dirs = 0;
  TF_SetStatus(status, TF_OK, "");
}

void MakesSixteenLevels(Filesystem filesystem, Path path, Status status) {
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

// Of all pages but the first, only what looks like a directory is taken.
void LosesFilesBehindThePage(Filesystem filesystem, const std::string& path, Names& names) {
  std::sort(names.begin(), names.end());
  const auto is_file = [&](const auto& one) { return !IsDirectory(filesystem, Joined(path, one)); };
  names.erase(std::remove_if(names.begin() + kPage, names.end(), is_file), names.end());
}

// Of a directory with more than a page of one kind, nothing of the other kind is taken.
template <bool directories>
void LosesTheOtherKind(Filesystem filesystem, const std::string& path, Names& names) {
  const auto other = std::stable_partition(names.begin(), names.end(), [&](const auto& one) {
    return IsDirectory(filesystem, Joined(path, one)) == directories;
  });
  if (static_cast<size_t>(other - names.begin()) > kPage) names.erase(other, names.end());
}

// What is lost of sorted names, of a page or more.
template <void (*edit)(Names*)>
void OfSorted(Filesystem, const std::string&, Names& names) {
  std::sort(names.begin(), names.end());
  edit(&names);
}

void LosesOneBehindThePage(Names* names) {
  if (names->size() == kPage + 1) names->pop_back();
}

void LosesTheThirdPage(Names* names) { names->resize(std::min(names->size(), 2 * kPage)); }

void RepeatsAtThePage(Names* names) {
  if (names->size() > kPage) names->push_back((*names)[kPage]);
}

void ListsWhatHasRoom(Names* names) { names->resize(Fitting(*names)); }

// One buffer is full to the end.
void LosesWhatFillsTheRoom(Names* names) {
  size_t taken = 0;
  for (const std::string& name : *names) taken += name.size() + 1;
  if (taken == kRoom) names->pop_back();
}

size_t OnAPage(const Names& names) { return std::min(names.size(), kPage); }

// Of a directory the first names are matched.
template <size_t (*most)(const Names&)>
int MatchesTheFirst(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count <= 0) return count;
  Names kept;
  std::map<std::string, Names> behind;
  for (const std::string& match : Taken(count, *entries)) {
    const std::string path(support::ParseUri(match).path);
    const std::string directory = support::ParentOf(path);
    if (behind.count(directory) == 0) {
      const Names names = Sorted(filesystem, directory);
      behind[directory] = Names(names.begin() + most(names), names.end());
    }
    const std::string name = NameIn(path);
    const Names& lost = behind[directory];
    if (!std::binary_search(lost.begin(), lost.end(), name)) kept.push_back(match);
  }
  return support::CopyNames(kept, entries);
}

Names Levels(const std::string& name) {
  Names levels;
  std::stringstream path{std::string(support::ParseUri(name).path)};
  for (std::string level; std::getline(path, level, '/');)
    if (!level.empty()) levels.push_back(level);
  return levels;
}

bool IsGlob(const std::string& level) { return level.find_first_of("*?[") != std::string::npos; }

// Goes into one page of the directories that a glob finds, where so many levels follow.
template <size_t following>
int GoesIntoAPage(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  if (count <= 0) return count;
  const Names levels = Levels(pattern);
  Names kept;
  std::map<std::string, Names> pages;
  for (const std::string& match : Taken(count, *entries)) {
    const Names names = Levels(match);
    bool met = true;
    std::string directory;
    for (size_t k = 0; k + following < std::min(levels.size(), names.size()); ++k) {
      if (IsGlob(levels[k])) {
        if (pages.count(directory) == 0) {
          const Names found = Sorted(filesystem, directory.empty() ? "/" : directory);
          pages[directory] = Names(found.begin(), found.begin() + OnAPage(found));
        }
        const Names& page = pages[directory];
        met = met && std::binary_search(page.begin(), page.end(), names[k]);
      }
      directory += "/" + names[k];
    }
    if (met) kept.push_back(match);
  }
  return support::CopyNames(kept, entries);
}

// Of patterns with one of `globs` in more levels, so many matches are given at most.
template <const char* globs, int most_levels, size_t most = 0>
int GivesFew(Filesystem filesystem, Path pattern, char*** entries, Status status) {
  const int count = Right().get_matching_paths(filesystem, pattern, entries, status);
  const Names levels = Levels(pattern);
  const auto has_one = [](const std::string& level) {
    return level.find_first_of(globs) != std::string::npos;
  };
  if (count <= static_cast<int>(most) ||
      std::count_if(levels.begin(), levels.end(), has_one) <= most_levels)
    return count;
  Names names = Taken(count, *entries);
  names.resize(most);
  return support::CopyNames(names, entries);
}

constexpr char kAnyGlob[] = "*?[";
constexpr char kClass[] = "[";
constexpr char kQuestion[] = "?";

// A directory is looked up among the keys that begin with its name, of which there is one page.
void ExistsOnTheFirstPage(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (!Worked(status) || !IsDirectory(filesystem, path)) return;
  const std::string own = NameIn(path);
  const Names names = Children(filesystem, support::ParentOf(path));
  const auto comes_first = [&](const std::string& name) {
    return name != own && name.compare(0, own.size(), own) == 0 && name < own + "/";
  };
  if (std::count_if(names.begin(), names.end(), comes_first) >= static_cast<int>(kPage))
    TF_SetStatus(status, TF_NOT_FOUND, path);
}

// A directory that holds nothing but an empty directory counts as empty.
void DeletesTwo(Filesystem filesystem, Path path, Status status) {
  const Names names = Children(filesystem, path);
  if (names.size() == 1 && IsDirectory(filesystem, Joined(path, names[0])))
    Right().delete_dir(filesystem, Joined(path, names[0]).c_str(), Scratch().status());
  Right().delete_dir(filesystem, path, status);
}

// What is behind the first batch is not asked for.
bool AsksOneBatch(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  return Right().paths_exist(filesystem, paths, std::min(count, static_cast<int>(kPage)), statuses);
}

// So it is where nobody asks which of the paths are there.
bool AsksOneBatchForAll(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  const int most = statuses == nullptr ? static_cast<int>(kPage) : count;
  return Right().paths_exist(filesystem, paths, std::min(count, most), statuses);
}

// Of more than 16 regions held, the oldest shows what the newest does.

std::mutex held_mutex;
std::deque<const void*> held;
std::map<const void*, const void*> shows;

void HoldsSixteen(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region,
                  Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(held_mutex);
  held.push_back(region->plugin_memory_region);
  if (held.size() > 16) shows[held[held.size() - 17]] = region->plugin_memory_region;
}

TF_ReadOnlyMemoryRegion Shown(Region region) {
  const std::lock_guard<std::mutex> lock(held_mutex);
  const auto other = shows.find(region->plugin_memory_region);
  return other == shows.end() ? *region : TF_ReadOnlyMemoryRegion{const_cast<void*>(other->second)};
}

const void* ShowsData(Region region) {
  const TF_ReadOnlyMemoryRegion shown = Shown(region);
  return Mapping().data(&shown);
}

uint64_t ShowsLength(Region region) {
  const TF_ReadOnlyMemoryRegion shown = Shown(region);
  return Mapping().length(&shown);
}

void LetsGo(TF_ReadOnlyMemoryRegion* region) {
  {
    const std::lock_guard<std::mutex> lock(held_mutex);
    held.erase(std::remove(held.begin(), held.end(), region->plugin_memory_region), held.end());
    shows.erase(region->plugin_memory_region);
    for (auto one = shows.begin(); one != shows.end();)
      one = one->second == region->plugin_memory_region ? shows.erase(one) : std::next(one);
  }
  Mapping().cleanup(region);
}

}  // namespace

std::vector<Fault> CountFaults() {
  constexpr const char* kGone = "the tree is gone after OK";
  constexpr const char* kListed = "every child is listed, once";
  constexpr const char* kMatched = "all that matches is found";
  return {
      {"counts.full-page-is-the-last",
       "delete_recursively keeps a directory of 1,000 entries, or of a multiple, with OK", kGone,
       With(&Ops::delete_recursively, KeepsAfterAFullPage)},
      {"counts.directories-behind-a-page",
       "delete_recursively keeps what is behind 1,000 directories of a directory, with OK", kGone,
       With(&Ops::delete_recursively, KeepsDirectoriesBehindAPage)},
      {"counts.page-below",
       "delete_recursively keeps what is behind 1,000 entries of a directory below, with OK", kGone,
       With(&Ops::delete_recursively, KeepsPagesBelow)},
      {"counts.deletes-64-kib-of-names",
       "delete_recursively keeps what is behind 64 KiB of names of a directory, with OK", kGone,
       With(&Ops::delete_recursively, KeepsWhatHasNoRoom)},
      {"counts.deletes-32-levels", "delete_recursively says OK of more levels, and deletes nothing",
       kGone, With(&Ops::delete_recursively, DeletesToDepth<32>)},
      {"counts.deletes-512-levels",
       "delete_recursively says OK of more than 512 levels, and deletes nothing", kGone,
       With(&Ops::delete_recursively, DeletesToDepth<512>)},
      {"counts.makes-16-levels", "recursively_create_dir makes 16 levels at most, with OK",
       "parents that are missing are created",
       With(&Ops::recursively_create_dir, MakesSixteenLevels)},
      {"counts.one-behind-the-page", "get_children loses the last of 1,001 entries", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, OfSorted<LosesOneBehindThePage>, kPage>)},
      {"counts.no-files-behind-the-page",
       "get_children lists no files behind the first 1,000 entries", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, LosesFilesBehindThePage, kPage + 1>)},
      {"counts.no-third-page", "get_children lists 2,000 entries at most", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, OfSorted<LosesTheThirdPage>, kPage>)},
      {"counts.repeated-at-the-page", "get_children lists entry 1,001 twice", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, OfSorted<RepeatsAtThePage>, kPage>)},
      {"counts.lists-64-kib-of-names", "get_children lists 64 KiB of names at most", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, OfSorted<ListsWhatHasRoom>, 1>)},
      {"counts.fills-64-kib", "get_children loses the last of names that fill 64 KiB", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, OfSorted<LosesWhatFillsTheRoom>, 1>)},
      {"counts.matches-the-first-page",
       "get_matching_paths looks at 1,000 names of a directory at most", kMatched,
       With(&Ops::get_matching_paths, MatchesTheFirst<OnAPage>)},
      {"counts.matches-in-64-kib",
       "get_matching_paths looks at 64 KiB of names of a directory at most", kMatched,
       With(&Ops::get_matching_paths, MatchesTheFirst<Fitting>)},
      {"counts.goes-into-a-page",
       "get_matching_paths goes into the first 1,000 directories that a glob finds", kMatched,
       With(&Ops::get_matching_paths, GoesIntoAPage<1>)},
      {"counts.goes-far-into-a-page",
       "get_matching_paths goes into the first 1,000 directories where two more levels follow",
       kMatched, With(&Ops::get_matching_paths, GoesIntoAPage<2>)},
      {"counts.globs-fill-a-page",
       "get_matching_paths gives 1,000 matches of globs in two levels at most", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kAnyGlob, 1, kPage>)},
      {"counts.no-directories-among-a-page-of-files",
       "get_children lists no directories among more than 1,000 files", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, LosesTheOtherKind<false>, kPage + 1>)},
      {"counts.no-files-among-a-page-of-directories",
       "get_children lists no files among more than 1,000 directories", kListed,
       With(&Ops::get_children, Lists<&Ops::get_children, LosesTheOtherKind<true>, kPage + 1>)},
      {"counts.globs-in-four-levels",
       "get_matching_paths finds nothing by globs in more than four levels", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kAnyGlob, 4>)},
      {"counts.globs-in-twelve-levels",
       "get_matching_paths finds nothing by globs in more than twelve levels", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kAnyGlob, 12>)},
      {"counts.classes-in-two-levels",
       "get_matching_paths finds nothing by classes in more than two levels", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kClass, 2>)},
      {"counts.questions-in-eight-levels",
       "get_matching_paths finds nothing by question marks in more than eight levels", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kQuestion, 8>)},
      {"counts.classes-fill-a-page", "get_matching_paths gives 1,000 matches of a class at most",
       kMatched, With(&Ops::get_matching_paths, GivesFew<kClass, 0, kPage>)},
      {"counts.questions-fill-a-page",
       "get_matching_paths gives 1,000 matches of a question mark at most", kMatched,
       With(&Ops::get_matching_paths, GivesFew<kQuestion, 0, kPage>)},
      {"counts.exists-on-the-first-page",
       "path_exists knows no directory behind 1,000 siblings that begin with its name",
       "a directory exists", With(&Ops::path_exists, ExistsOnTheFirstPage)},
      {"counts.one-directory-is-none",
       "delete_dir takes a directory that holds one empty directory for empty",
       "a directory that is not empty is FAILED_PRECONDITION", With(&Ops::delete_dir, DeletesTwo)},
      {"counts.one-batch", "paths_exist asks for 1,000 paths at most",
       "each status is set, for each path", With(&Ops::paths_exist, AsksOneBatch)},
      {"counts.one-batch-for-all",
       "paths_exist looks at 1,000 paths at most where no statuses are asked for",
       "it is true if all paths exist", With(&Ops::paths_exist, AsksOneBatchForAll)},
      {"counts.sixteen-regions", "of more than 16 regions the oldest shows what the newest does",
       "data points at the bytes of the file, the same until cleanup",
       WithRegions(HoldsSixteen, ShowsData, ShowsLength, LetsGo)},
  };
}

}  // namespace fakes
