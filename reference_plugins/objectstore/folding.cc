#include "folding.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace objectstore {

#ifdef __x86_64__
namespace {

constexpr size_t kLanes = 4;
constexpr size_t kStride = kLanes * sizeof(Block);

// x^n modulo the polynomial, reflected as that is. A polynomial of 32 bits has the higher half.
template <typename Word, Word polynomial>
constexpr uint64_t Power(int n) {
  constexpr int kUnused = 64 - 8 * static_cast<int>(sizeof(Word));
  constexpr uint64_t kHighest = uint64_t{1} << kUnused;
  uint64_t word = uint64_t{1} << 63;
  for (; n > 0; --n) {
    const bool carries = (word & kHighest) != 0;
    word = (word & ~kHighest) >> 1;
    if (carries) word ^= uint64_t{polynomial} << kUnused;
  }
  return word;
}

// What moves a block by so many bits towards the front. The product of two reflected words stands
// for one power of x more than its factors, which is why each power is smaller by one.
template <typename Word, Word polynomial, int bits>
__attribute__((target("pclmul"))) __m128i Moved(__m128i block) {
  constexpr uint64_t kNear = Power<Word, polynomial>(bits - 1);
  constexpr uint64_t kFar = Power<Word, polynomial>(bits + 63);
  const __m128i factors = _mm_set_epi64x(static_cast<int64_t>(kNear), static_cast<int64_t>(kFar));
  // The first eight bytes are the low ones, and have the higher powers.
  return _mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00),
                       _mm_clmulepi64_si128(block, factors, 0x11));
}

__m128i Loaded(const unsigned char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

template <typename Word, Word polynomial>
__attribute__((target("pclmul"))) size_t Folded(Word word, const unsigned char* bytes, size_t n,
                                                Block& block) {
  constexpr int kBlock = 8 * sizeof(Block);
  const unsigned char* const begin = bytes;
  __m128i lanes[kLanes];
  for (size_t k = 0; k < kLanes; ++k) lanes[k] = Loaded(bytes + k * sizeof(Block));
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi64_si128(static_cast<int64_t>(word)));
  for (bytes += kStride, n -= kStride; n >= kStride; bytes += kStride, n -= kStride) {
    for (size_t k = 0; k < kLanes; ++k) {
      lanes[k] = _mm_xor_si128(Moved<Word, polynomial, kLanes * kBlock>(lanes[k]),
                               Loaded(bytes + k * sizeof(Block)));
    }
  }
  __m128i all = lanes[0];
  for (size_t k = 1; k < kLanes; ++k) {
    all = _mm_xor_si128(Moved<Word, polynomial, kBlock>(all), lanes[k]);
  }
  for (; n >= sizeof(Block); bytes += sizeof(Block), n -= sizeof(Block)) {
    all = _mm_xor_si128(Moved<Word, polynomial, kBlock>(all), Loaded(bytes));
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(block.data()), all);
  return static_cast<size_t>(bytes - begin);
}

}  // namespace

template <typename Word, Word polynomial>
size_t Fold(Word word, const unsigned char* bytes, size_t n, Block& block) {
  static const bool can = __builtin_cpu_supports("pclmul") != 0;
  return can && n >= 2 * kStride ? Folded<Word, polynomial>(word, bytes, n, block) : 0;
}
#else
template <typename Word, Word polynomial>
size_t Fold(Word, const unsigned char*, size_t, Block&) {
  return 0;
}
#endif

template size_t Fold<uint64_t, kCrc64NvmePolynomial>(uint64_t, const unsigned char*, size_t,
                                                     Block&);
template size_t Fold<uint32_t, kCrc32cPolynomial>(uint32_t, const unsigned char*, size_t, Block&);
template size_t Fold<uint32_t, kCrc32Polynomial>(uint32_t, const unsigned char*, size_t, Block&);

}  // namespace objectstore
