#include "checksum.h"

#include <algorithm>
#include <map>

#include "test.h"

namespace objectstore {
namespace {

// The bytes that catalogues of checks give the result for, in pieces of every length.
std::string Added(Sum sum) {
  const std::string text = "123456789";
  std::string first;
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    Adder adder(sum);
    for (size_t k = 0; k < text.size(); k += piece) {
      adder.Add(text.data() + k, std::min(piece, text.size() - k));
    }
    const std::string got = adder.Text();
    if (first.empty()) first = got;
    EXPECT_EQUAL(got, first);
  }
  return first;
}

TEST(ChecksumsOfTheCatalogues) {
  // cbf43926, e3069283 and ae8b14860a799888 in base64.
  for (const auto& [sum, text] :
       std::map<Sum, std::string>{{Sum::kCrc32, "y/Q5Jg=="},
                                  {Sum::kCrc32c, "4waSgw=="},
                                  {Sum::kCrc64Nvme, "rosUhgp5mIg="},
                                  {Sum::kSha1, "98O8HYCOBHMq32eZZczDTKeuNEE="},
                                  {Sum::kSha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="},
                                  {Sum::kMd5, "25f9e794323b453885f5181f1b624d0b"},
                                  {Sum::kNone, ""}}) {
    EXPECT_EQUAL(Added(sum), text);
  }
}

// Pieces that are too short for folding, and all at once, from every place in a block.
TEST(ChecksumsOfWholeBlocks) {
  std::string text;
  for (int k = 0; k < 1300; ++k) text += static_cast<char>(k * k * k);
  for (const Sum sum : {Sum::kCrc64Nvme, Sum::kCrc32c, Sum::kCrc32}) {
    for (size_t begin = 0; begin < 17; ++begin) {
      for (size_t end = begin + 100; end < text.size(); end += 23) {
        Adder whole(sum), pieces(sum);
        pieces.Add(text.data() + begin, 5);
        whole.Add(text.data() + begin, 5);
        whole.Add(text.data() + begin + 5, end - begin - 5);
        for (size_t k = begin + 5; k < end; k += 7) {
          pieces.Add(text.data() + k, std::min<size_t>(7, end - k));
        }
        EXPECT_EQUAL(whole.Text(), pieces.Text());
      }
    }
  }
}

}  // namespace
}  // namespace objectstore
