// Memory regions.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "faults.h"

namespace fakes {
namespace {

void RightNew(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  Right().new_read_only_memory_region_from_file(filesystem, path, region, status);
}

uint64_t ShortLength(Region region) { return Mapping().length(region) - 1; }

uint64_t LongLength(Region region) { return Mapping().length(region) + 1; }

const void* NullData(Region) { return nullptr; }

// Each call gives a copy at another address, all of them good until the cleanup.
PerObject<std::vector<std::string>> copies;

const void* MovesData(Region region) {
  const std::string bytes(static_cast<const char*>(Mapping().data(region)),
                          Mapping().length(region));
  return copies.With(region->plugin_memory_region,
                     [&](std::vector<std::string>& made) -> const void* {
                       // Long enough never to live inside the string object, which may move.
                       made.push_back(bytes + std::string(64, '\0'));
                       return made.back().data();
                     });
}

// All regions show one buffer, which each new one fills with its file.
char one_buffer[1 << 20];

void NewInOneBuffer(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region,
                    Status status) {
  RightNew(filesystem, path, region, status);
  if (!Worked(status)) return;
  std::memcpy(one_buffer, Mapping().data(region),
              std::min<size_t>(Mapping().length(region), sizeof one_buffer));
}

const void* DataInOneBuffer(Region) { return one_buffer; }

// The first region made of a path keeps what it saw for all that come after.
PerObject<std::shared_ptr<const std::string>> shown;

void NewStale(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::string>> seen;
  RightNew(filesystem, path, region, status);
  if (!Worked(status)) return;
  const std::lock_guard<std::mutex> lock(mutex);
  auto& first = seen[path];
  if (first == nullptr) {
    first = std::make_shared<const std::string>(static_cast<const char*>(Mapping().data(region)),
                                                Mapping().length(region));
  }
  shown.Set(region->plugin_memory_region, first);
}

const void* StaleData(Region region) {
  return shown.With(region->plugin_memory_region,
                    [](const auto& bytes) -> const void* { return bytes->data(); });
}

uint64_t StaleLength(Region region) {
  return shown.With(region->plugin_memory_region,
                    [](const auto& bytes) { return uint64_t{bytes->size()}; });
}

// An empty file gives an object, which nothing is behind.
char nothing;

void NewEmptyOk(Filesystem filesystem, Path path, TF_ReadOnlyMemoryRegion* region, Status status) {
  RightNew(filesystem, path, region, status);
  if (TF_GetCode(status) != TF_INVALID_ARGUMENT) return;
  region->plugin_memory_region = &nothing;
  TF_SetStatus(status, TF_OK, "");
}

const void* DataOrNothing(Region region) {
  return region->plugin_memory_region == &nothing ? &nothing : Mapping().data(region);
}

uint64_t LengthOrNothing(Region region) {
  return region->plugin_memory_region == &nothing ? 0 : Mapping().length(region);
}

void CleanupOrNothing(TF_ReadOnlyMemoryRegion* region) {
  if (region->plugin_memory_region != &nothing) Mapping().cleanup(region);
}

}  // namespace

std::vector<Fault> RegionFaults() {
  constexpr const char* kLength = "length is the size of the file";
  constexpr const char* kData = "data points at the bytes of the file, the same until cleanup";
  return {
      {"region.short-length", "one byte too few", kLength, With(&RegionOps::length, ShortLength)},
      {"region.long-length", "one byte too many", kLength, With(&RegionOps::length, LongLength)},
      {"region.null-data", "NULL", kData, With(&RegionOps::data, NullData)},
      {"region.moves-data", "another address at each call", kData,
       Together(With(&RegionOps::data, MovesData), With(&RegionOps::cleanup, Forgets<copies>))},
      {"region.stale-data", "shows what the path held when a region was first made of it", kData,
       WithRegions(NewStale, StaleData, StaleLength, Forgets<shown>)},
      {"region.one-buffer", "all regions show what the last one was made of", kData,
       Together(With(&Ops::new_read_only_memory_region_from_file, NewInOneBuffer),
                With(&RegionOps::data, DataInOneBuffer))},
      {"region.empty-ok", "an empty file gives a region of length 0",
       "an empty file is INVALID_ARGUMENT",
       WithRegions(NewEmptyOk, DataOrNothing, LengthOrNothing, CleanupOrNothing)},
  };
}

}  // namespace fakes
