// A whole file as memory.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <memory>

#include "files.h"
#include "support/descriptor.h"
#include "support/status.h"
#include "tables.h"

namespace posix {
namespace {

struct MemoryRegion {
  void* data = MAP_FAILED;
  size_t length = 0;

  ~MemoryRegion() {
    if (data != MAP_FAILED) munmap(data, length);
  }
};

MemoryRegion* Get(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<MemoryRegion*>(region->plugin_memory_region);
}

void Cleanup(TF_ReadOnlyMemoryRegion* region) noexcept {
  delete Get(region);
  region->plugin_memory_region = nullptr;
}

const void* Data(const TF_ReadOnlyMemoryRegion* region) noexcept { return Get(region)->data; }

uint64_t Length(const TF_ReadOnlyMemoryRegion* region) noexcept { return Get(region)->length; }

}  // namespace

void NewMemoryRegion(const TF_Filesystem*, const char* path, TF_ReadOnlyMemoryRegion* region,
                     TF_Status* status) noexcept {
  support::Guarded(status, path, [&] {
    struct stat facts;
    const support::Descriptor descriptor = OpenFile(path, O_RDONLY, &facts, status);
    if (!descriptor.is_open()) return;
    if (facts.st_size == 0)
      return support::SetError(status, TF_INVALID_ARGUMENT, path, "the file is empty");
    auto made = std::make_unique<MemoryRegion>();
    made->length = static_cast<size_t>(facts.st_size);
    made->data = mmap(nullptr, made->length, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (made->data == MAP_FAILED) return support::SetErrno(status, errno, path);
    // The mapping keeps the file; the descriptor is not needed any more.
    region->plugin_memory_region = made.release();
    support::SetOk(status);
  });
}

TF_ReadOnlyMemoryRegionOps MemoryRegionOps() {
  TF_ReadOnlyMemoryRegionOps ops = {};
  ops.cleanup = Cleanup;
  ops.data = Data;
  ops.length = Length;
  return ops;
}

}  // namespace posix
