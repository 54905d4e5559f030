// The allocator of hosts that are started with this library in LD_PRELOAD: glibc's own, which fails
// once where it is told to. Nobody else loads it, so that sanitizers and valgrind find their place.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#define TFFS_SHOWN extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

// Code for which memory never fails, because it is not the plugin's: the runtime, which TensorFlow
// ends where its memory does, the dynamic loader, and the C library's list of what ends a thread,
// which end the process.
struct Code {
  uintptr_t begin;
  uintptr_t end;
};
constexpr size_t kMostCode = 16;
Code spared[kMostCode];
size_t spared_count = 0;

void Spare(uintptr_t begin, size_t size) {
  if (spared_count < kMostCode) spared[spared_count++] = {begin, begin + size};
}

int SpareObject(dl_phdr_info* object, size_t, void* runtime) {
  const auto address = reinterpret_cast<uintptr_t>(runtime);
  bool is_runtime = false;
  for (int k = 0; k < object->dlpi_phnum; ++k) {
    const ElfW(Phdr) & part = object->dlpi_phdr[k];
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    is_runtime |= part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz;
  }
  if (!is_runtime && object->dlpi_addr != getauxval(AT_BASE)) return 0;
  for (int k = 0; k < object->dlpi_phnum; ++k) {
    const ElfW(Phdr) & part = object->dlpi_phdr[k];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0)
      Spare(object->dlpi_addr + part.p_vaddr, part.p_memsz);
  }
  return 0;
}

void SpareOnce() {
  if (spared_count > 0) return;
  dl_iterate_phdr(SpareObject, dlsym(RTLD_DEFAULT, "TF_SetStatus"));
  Dl_info object;
  const ElfW(Sym)* symbol = nullptr;
  void* ends = dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
  if (ends != nullptr &&
      dladdr1(ends, &object, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr)
    Spare(reinterpret_cast<uintptr_t>(ends), symbol->st_size);
}

_Unwind_Reason_Code IsSpared(_Unwind_Context* context, void* answer) {
  const uintptr_t place = _Unwind_GetIP(context) - 1;
  for (size_t k = 0; k < spared_count; ++k) {
    if (place < spared[k].begin || place >= spared[k].end) continue;
    *static_cast<bool*>(answer) = true;
    return _URC_END_OF_STACK;
  }
  return _URC_NO_REASON;
}

// Of this thread: whether allocations are counted, how many there were, and which one fails.
struct Count {
  bool on;
  int64_t made;
  int64_t fails;
};
__attribute__((tls_model("initial-exec"))) thread_local Count count = {false, 0, 0};

bool Fails() {
  if (!count.on) return false;
  // What the unwinder allocates is nobody's.
  count.on = false;
  bool is_spared = false;
  _Unwind_Backtrace(IsSpared, &is_spared);
  count.on = true;
  if (is_spared || ++count.made != count.fails) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

// From now on what this thread allocates is counted, and the allocation of this number fails; none
// where it is 0.
TFFS_SHOWN void tffs_count_allocations(int64_t fails) {
  SpareOnce();
  count = {true, 0, fails};
}

// The same ends, and gives how many there were.
TFFS_SHOWN int64_t tffs_counted_allocations() {
  count.on = false;
  return count.made;
}

TFFS_SHOWN void* malloc(size_t size) noexcept { return Fails() ? nullptr : __libc_malloc(size); }

TFFS_SHOWN void* calloc(size_t number, size_t size) noexcept {
  return Fails() ? nullptr : __libc_calloc(number, size);
}

TFFS_SHOWN void* realloc(void* block, size_t size) noexcept {
  // Of no size it gives back.
  return size > 0 && Fails() ? nullptr : __libc_realloc(block, size);
}

TFFS_SHOWN void* memalign(size_t alignment, size_t size) noexcept {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}

TFFS_SHOWN void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}

TFFS_SHOWN int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  const int before = errno;
  void* given = Fails() ? nullptr : __libc_memalign(alignment, size);
  errno = before;
  if (given == nullptr) return ENOMEM;
  *block = given;
  return 0;
}
