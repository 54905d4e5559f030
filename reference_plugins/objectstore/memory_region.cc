// A whole file as memory.

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/files.h"
#include "posix/tables.h"

namespace objectstore {
namespace {

class Region {
 public:
  virtual ~Region() = default;
  virtual const void* data() const = 0;
  virtual uint64_t length() const = 0;
};

class LocalRegion : public Region {
 public:
  explicit LocalRegion(TF_ReadOnlyMemoryRegion region) : region_(region) {}
  ~LocalRegion() override { ops_.cleanup(&region_); }

  const void* data() const override { return ops_.data(&region_); }
  uint64_t length() const override { return ops_.length(&region_); }

 private:
  const TF_ReadOnlyMemoryRegionOps ops_ = posix::MemoryRegionOps();
  TF_ReadOnlyMemoryRegion region_;
};

// The temporary file never changes, so all who map it share its pages.
class ObjectRegion : public Region {
 public:
  explicit ObjectRegion(const Spool& content) : length_(content.size()) {
    data_ = mmap(nullptr, length_, PROT_READ, MAP_SHARED, content.descriptor(), 0);
    if (data_ == MAP_FAILED) {
      throw Failure(errno == ENOMEM ? TF_RESOURCE_EXHAUSTED : TF_INTERNAL,
                    std::string("no memory map: ") + std::strerror(errno));
    }
  }
  ~ObjectRegion() override { munmap(data_, length_); }

  const void* data() const override { return data_; }
  uint64_t length() const override { return length_; }

 private:
  void* data_;
  size_t length_;
};

Region* RegionOf(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<Region*>(region->plugin_memory_region);
}

void Cleanup(TF_ReadOnlyMemoryRegion* region) noexcept {
  delete RegionOf(region);
  region->plugin_memory_region = nullptr;
}

const void* Data(const TF_ReadOnlyMemoryRegion* region) noexcept {
  return RegionOf(region)->data();
}

uint64_t Length(const TF_ReadOnlyMemoryRegion* region) noexcept {
  return RegionOf(region)->length();
}

Content Fetched(Filesystem& state, const Name& name) {
  for (int tried = 0;; ++tried) {
    const Version version = state.tree.File(name);
    if (version.size == 0) throw Failure(TF_INVALID_ARGUMENT, "the file is empty");
    try {
      return state.Fetch(name, version);
    } catch (const Changed&) {
      if (tried == 1) throw;
    }
  }
}

}  // namespace

void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    TF_ReadOnlyMemoryRegion made = {};
    posix::NewMemoryRegion(filesystem, local, &made, status);
    if (TF_GetCode(status) != TF_OK) return;
    return Perform(status, path, [&] { region->plugin_memory_region = new LocalRegion(made); });
  }
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Content content = Fetched(*state, ObjectName(state->config, path));
    region->plugin_memory_region = new ObjectRegion(*content);
  });
}

TF_ReadOnlyMemoryRegionOps MemoryRegionOps() {
  TF_ReadOnlyMemoryRegionOps ops = {};
  ops.cleanup = Cleanup;
  ops.data = Data;
  ops.length = Length;
  return ops;
}

}  // namespace objectstore
