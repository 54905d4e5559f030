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

size_t WholePages(size_t bytes) { return (bytes + Page() - 1) / Page() * Page(); }

}  // namespace

GuardedBuffer::~GuardedBuffer() { Release(); }

void GuardedBuffer::Release() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
  mapping_ = nullptr;
  open_ = 0;
}

bool GuardedBuffer::Open(size_t inside) {
  const size_t page = Page();
  if (mapping_ == nullptr || inside + 2 * page > mapped_) {
    Release();
    mapped_ = inside + 2 * page;
    void* mapping =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return false;
    mapping_ = static_cast<char*>(mapping);
  }
  if (inside == open_) return true;
  // The page behind is where this buffer ends, not where a larger one did.
  char* start = mapping_ + page;
  const bool grows = inside > open_;
  const size_t from = std::min(inside, open_);
  const size_t bytes = std::max(inside, open_) - from;
  if (mprotect(start + from, bytes, grows ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    Release();
    return false;
  }
  // To touch pages first costs as much as to copy them, unless they are large.
  if (grows && inside >= kLarge) madvise(start, inside, MADV_HUGEPAGE);
  open_ = inside;
  return true;
}

char* GuardedBuffer::ForWriting(size_t size) {
  if (size > SIZE_MAX / 2 || !Open(WholePages(size + kCanary))) return nullptr;
  size_ = size;
  char* start = mapping_ + Page();
  std::memset(start, kPoison, size);
  std::memset(start + size, kCanaryByte, open_ - size);
  return start;
}

bool GuardedBuffer::Intact() const {
  const auto* inside = reinterpret_cast<const unsigned char*>(mapping_ + Page());
  return std::all_of(inside + size_, inside + open_,
                     [](unsigned char byte) { return byte == kCanaryByte; });
}

char* GuardedBuffer::ForReading(std::string_view data) {
  if (!Open(WholePages(std::max(data.size(), size_t{1})))) return nullptr;
  size_ = data.size();
  char* start = mapping_ + Page() + open_ - size_;
  std::copy(data.begin(), data.end(), start);
  return start;
}

void GuardedBuffer::Spoil() { std::memset(mapping_ + Page() + open_ - size_, kPoison, size_); }

Argument::Argument(std::string_view text)
    : original_(text), block_(std::make_unique<char[]>(text.size() + 1)) {
  std::copy(text.begin(), text.end(), block_.get());
}

Argument::~Argument() {
  // Volatile: the compiler would drop a write to memory that is about to be freed.
  volatile char* byte = block_.get();
  for (size_t k = 0; k <= original_.size(); ++k) byte[k] = static_cast<char>(kSpoilt);
}

bool Argument::Changed() const {
  return std::memcmp(block_.get(), original_.data(), original_.size()) != 0 ||
         block_[original_.size()] != '\0';
}

}  // namespace tffs
