#include "buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tffs {
namespace {

constexpr size_t kCanary = 64;
constexpr size_t kLarge = size_t{4} << 20;
constexpr unsigned char kCanaryByte = 0xC3;
constexpr unsigned char kSpoilt = 0xDD;

size_t Page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

GuardedBuffer::~GuardedBuffer() { Release(); }

void GuardedBuffer::Release() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
  mapping_ = nullptr;
}

char* GuardedBuffer::Prepare(size_t size) {
  const size_t page = Page();
  if (size > SIZE_MAX / 2) return nullptr;
  const size_t inside = (size + kCanary + page - 1) / page * page;
  if (mapping_ == nullptr || inside + 2 * page > mapped_) {
    Release();
    mapped_ = inside + 2 * page;
    void* mapping =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    mapping_ = static_cast<char*>(mapping);
    if (mprotect(mapping_ + page, inside, PROT_READ | PROT_WRITE) != 0) {
      Release();
      return nullptr;
    }
    // To touch pages first costs as much as to copy them, unless they are large.
    if (inside >= kLarge) madvise(mapping_ + page, inside, MADV_HUGEPAGE);
  }
  size_ = size;
  char* start = mapping_ + page;
  std::memset(start, kPoison, size);
  std::memset(start + size, kCanaryByte, kCanary);
  return start;
}

bool GuardedBuffer::Intact() const {
  const auto* canary = reinterpret_cast<const unsigned char*>(mapping_ + Page() + size_);
  return std::all_of(canary, canary + kCanary, [](unsigned char b) { return b == kCanaryByte; });
}

Argument::Argument(std::string_view text) : original_(text), block_(text.begin(), text.end()) {
  block_.push_back('\0');
}

Argument::~Argument() {
  // Volatile: the compiler would drop a write to memory that is about to be freed.
  volatile char* byte = block_.data();
  for (size_t k = 0; k < block_.size(); ++k) byte[k] = static_cast<char>(kSpoilt);
}

bool Argument::Changed() const {
  return std::memcmp(block_.data(), original_.data(), original_.size()) != 0 ||
         block_.back() != '\0';
}

}  // namespace tffs
