// Cyclic redundancy checks, as S3's x-amz-checksum-crc32, -crc32c and -crc64nvme have them:
// reflected, begun with ones and ended by a complement.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CRC_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CRC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "folding.h"

namespace objectstore {

// `polynomial` is reflected: its lowest bit stands for the highest power.
template <typename Word, Word polynomial>
class Crc {
 public:
  void Add(const char* data, size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data);
    Block block;
    if (const size_t folded = Fold<Word, polynomial>(word_, bytes, n, block)) {
      word_ = 0;
      AddByTables(block.data(), block.size());
      bytes += folded;
      n -= folded;
    }
    AddByTables(bytes, n);
  }

  // The bytes of the check, the highest first.
  std::string Result() const {
    std::string bytes;
    for (size_t k = sizeof(Word); k-- > 0;) {
      bytes += static_cast<char>(static_cast<unsigned char>(~word_ >> (8 * k)));
    }
    return bytes;
  }

 private:
  using Table = std::array<Word, 256>;
  using Tables = std::array<Table, 16>;

  void AddByTables(const unsigned char* bytes, size_t n) {
    const Tables& tables = AllTables();
    // Sixteen bytes at a time: table k has what a byte does that k more follow.
    for (; n >= 16; n -= 16, bytes += 16) {
      word_ = Eight(&tables[8], Loaded(bytes) ^ word_) ^ Eight(&tables[0], Loaded(bytes + 8));
    }
    for (; n > 0; --n, ++bytes) {
      word_ = static_cast<Word>((word_ >> 8) ^ tables[0][(word_ ^ *bytes) & 0xff]);
    }
  }

  // Eight bytes, the first of them lowest.
  static uint64_t Loaded(const unsigned char* bytes) {
    uint64_t loaded = 0;
    for (size_t k = 0; k < 8; ++k) loaded |= uint64_t{bytes[k]} << (8 * k);
    return loaded;
  }

  static Word Eight(const Table* tables, uint64_t bytes) {
    return tables[7][bytes & 0xff] ^ tables[6][bytes >> 8 & 0xff] ^ tables[5][bytes >> 16 & 0xff] ^
           tables[4][bytes >> 24 & 0xff] ^ tables[3][bytes >> 32 & 0xff] ^
           tables[2][bytes >> 40 & 0xff] ^ tables[1][bytes >> 48 & 0xff] ^ tables[0][bytes >> 56];
  }

  static Tables Made() {
    Tables tables = {};
    for (size_t byte = 0; byte < 256; ++byte) {
      Word word = static_cast<Word>(byte);
      for (int bit = 0; bit < 8; ++bit) word = (word >> 1) ^ ((word & 1) != 0 ? polynomial : 0);
      tables[0][byte] = word;
    }
    for (size_t k = 1; k < tables.size(); ++k) {
      for (size_t byte = 0; byte < 256; ++byte) {
        const Word before = tables[k - 1][byte];
        tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
      }
    }
    return tables;
  }

  static const Tables& AllTables() {
    static const Tables tables = Made();
    return tables;
  }

  Word word_ = static_cast<Word>(~Word{0});
};

using Crc32 = Crc<uint32_t, kCrc32Polynomial>;
using Crc32c = Crc<uint32_t, kCrc32cPolynomial>;
using Crc64Nvme = Crc<uint64_t, kCrc64NvmePolynomial>;

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CRC_H_
