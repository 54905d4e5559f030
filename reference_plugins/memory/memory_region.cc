// A whole file as memory: the file's own, as it was when the region was made. What becomes of the
// file later, the region does not see.

#include <cerrno>
#include <cstdint>

#include "content.h"
#include "filesystem.h"
#include "ops.h"
#include "view.h"

namespace memory {
namespace {

Bytes* BytesOf(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<Bytes*>(region->plugin_memory_region);
}

void Cleanup(TF_ReadOnlyMemoryRegion* region) noexcept {
  delete BytesOf(region);
  region->plugin_memory_region = nullptr;
}

const void* Data(const TF_ReadOnlyMemoryRegion* region) noexcept { return BytesOf(region)->data(); }

uint64_t Length(const TF_ReadOnlyMemoryRegion* region) noexcept { return BytesOf(region)->size; }

}  // namespace

void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept {
  OnPath(filesystem, path, status, [&](Filesystem& state, const std::string& at) {
    const Entry* entry = nullptr;
    const int error = View(state).ReachFile(at, &entry);
    if (error != 0) return error;
    const Bytes bytes = entry->content->bytes();
    if (bytes.size == 0) return EINVAL;
    region->plugin_memory_region = new Bytes(bytes);
    return 0;
  });
}

TF_ReadOnlyMemoryRegionOps MemoryRegionOps() {
  TF_ReadOnlyMemoryRegionOps ops = {};
  ops.cleanup = Cleanup;
  ops.data = Data;
  ops.length = Length;
  return ops;
}

}  // namespace memory
