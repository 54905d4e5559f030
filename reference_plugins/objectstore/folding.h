// A cyclic redundancy check of many bytes at a time, where the processor multiplies without
// carries.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FOLDING_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FOLDING_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace objectstore {

// Reflected: their lowest bits stand for the highest powers.
constexpr uint64_t kCrc64NvmePolynomial = 0x9a6c9329ac4bc9b5;
constexpr uint32_t kCrc32cPolynomial = 0x82f63b78;
constexpr uint32_t kCrc32Polynomial = 0xedb88320;

using Block = std::array<unsigned char, 16>;

// Folds whole blocks into one. A check of `word` goes on with a check of 0 that `block` is added
// to, then with the bytes behind those that were folded. Gives how many were: 0 where the processor
// cannot, or where they are few.
template <typename Word, Word polynomial>
size_t Fold(Word word, const unsigned char* bytes, size_t n, Block& block);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FOLDING_H_
