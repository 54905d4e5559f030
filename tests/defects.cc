// The posix plugin with a defect in some of its ops, which only the sanitizer sees that it is
// compiled with. What the ops answer is right.

#include <cstdlib>
#include <mutex>
#include <utility>

#include "posix/tables.h"

namespace defects {
namespace {

// Hides from the compiler what a pointer points at: it would refuse, or remove, what is wrong on
// purpose.
char* Opaque(void* pointer) {
  void* volatile hidden = pointer;
  return static_cast<char*>(hidden);
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
__attribute__((noinline)) void OverflowHeap() {
  char* block = Opaque(std::malloc(61));
  static_cast<volatile char*>(block)[61] = 1;
  std::free(block);
}

__attribute__((noinline)) void UseFreed() {
  char* block = Opaque(std::malloc(64));
  std::free(Opaque(block));
  static_cast<volatile char*>(block)[32] = 1;
}

__attribute__((noinline)) void OverflowStack() {
  char buffer[10] = "";
  static_cast<volatile char*>(Opaque(buffer))[10] = 1;
}

__attribute__((noinline)) void FreeTwice() {
  char* block = Opaque(std::malloc(64));
  std::free(Opaque(block));
  std::free(Opaque(block));
}

template <int kPlace>
__attribute__((noinline)) void OverflowAt() {
  char* block = Opaque(std::malloc(8));
  static_cast<volatile char*>(block)[8] = kPlace;
  std::free(block);
}

template <int... kPlaces>
void OverflowAtMany(std::integer_sequence<int, kPlaces...>) {
  (OverflowAt<kPlaces>(), ...);
}
#endif

#ifdef __SANITIZE_THREAD__
int calls = 0;

__attribute__((noinline)) void Count() { ++calls; }

char* table = nullptr;

__attribute__((noinline)) void MakeTable() {
  if (table == nullptr) table = Opaque(std::malloc(64));
}

int lengths = 0;

__attribute__((noinline)) void CountLength() { ++lengths; }

int changes = 0;

// Right in each op that has a lock for it, and wrong between two that have different ones.
__attribute__((noinline)) void CountChange(std::mutex& mutex) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++changes;
}
#endif

namespace {

const support::Tables& Right() {
  static const support::Tables right = posix::AllTables();
  return right;
}

support::Tables Wrong() {
  support::Tables wrong = Right();
#ifdef __SANITIZE_ADDRESS__
  wrong.random_access_file.read = [](const TF_RandomAccessFile* file, uint64_t offset, size_t n,
                                     char* buffer, TF_Status* status) {
    OverflowHeap();
    return Right().random_access_file.read(file, offset, n, buffer, status);
  };
  wrong.filesystem.new_appendable_file = [](const TF_Filesystem* filesystem, const char* path,
                                            TF_WritableFile* file, TF_Status* status) {
    UseFreed();
    Right().filesystem.new_appendable_file(filesystem, path, file, status);
  };
  wrong.filesystem.delete_file = [](const TF_Filesystem* filesystem, const char* path,
                                    TF_Status* status) {
    OverflowStack();
    Right().filesystem.delete_file(filesystem, path, status);
  };
  wrong.filesystem.rename_file = [](const TF_Filesystem* filesystem, const char* from,
                                    const char* to, TF_Status* status) {
    FreeTwice();
    Right().filesystem.rename_file(filesystem, from, to, status);
  };
  wrong.filesystem.copy_file = [](const TF_Filesystem* filesystem, const char* from, const char* to,
                                  TF_Status* status) {
    // More than are told, and fewer than 25, of which the sanitizer ends its process.
    if (std::getenv("MANY") != nullptr) OverflowAtMany(std::make_integer_sequence<int, 22>());
    Right().filesystem.copy_file(filesystem, from, to, status);
  };
#endif
#ifdef __SANITIZE_THREAD__
  wrong.filesystem.path_exists = [](const TF_Filesystem* filesystem, const char* path,
                                    TF_Status* status) {
    Count();
    Right().filesystem.path_exists(filesystem, path, status);
  };
  wrong.filesystem.get_children = [](const TF_Filesystem* filesystem, const char* path,
                                     char*** entries, TF_Status* status) {
    MakeTable();
    return Right().filesystem.get_children(filesystem, path, entries, status);
  };
  wrong.memory_region.length = [](const TF_ReadOnlyMemoryRegion* region) {
    CountLength();
    return Right().memory_region.length(region);
  };
  wrong.filesystem.copy_file = [](const TF_Filesystem* filesystem, const char* from, const char* to,
                                  TF_Status* status) {
    static std::mutex of_copies;
    CountChange(of_copies);
    Right().filesystem.copy_file(filesystem, from, to, status);
  };
  wrong.filesystem.new_read_only_memory_region_from_file =
      [](const TF_Filesystem* filesystem, const char* path, TF_ReadOnlyMemoryRegion* region,
         TF_Status* status) {
        static std::mutex of_regions;
        CountChange(of_regions);
        Right().filesystem.new_read_only_memory_region_from_file(filesystem, path, region, status);
      };
#endif
  return wrong;
}

}  // namespace
}  // namespace defects

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  support::Register("posix", defects::Wrong(), info);
}
