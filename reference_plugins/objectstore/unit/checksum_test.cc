#include "checksum.h"

#include <algorithm>

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
  EXPECT_EQUAL(Added(Sum::kCrc32), "y/Q5Jg==");
  EXPECT_EQUAL(Added(Sum::kCrc32c), "4waSgw==");
  EXPECT_EQUAL(Added(Sum::kCrc64Nvme), "rosUhgp5mIg=");
  EXPECT_EQUAL(Added(Sum::kSha1), "98O8HYCOBHMq32eZZczDTKeuNEE=");
  EXPECT_EQUAL(Added(Sum::kSha256), "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
  EXPECT_EQUAL(Added(Sum::kMd5), "25f9e794323b453885f5181f1b624d0b");
  EXPECT_EQUAL(Added(Sum::kNone), "");
}

// Sums of what is long enough for many bytes at a time; the results are those of Python's zlib, and
// of a loop over bits for the others.
TEST(ChecksumsOfLongText) {
  std::string text;
  for (int k = 0; k < 1000; ++k) text += static_cast<char>(k * k);
  const auto added = [&](Sum sum) {
    Adder adder(sum);
    adder.Add(text.data(), text.size());
    return adder.Text();
  };
  EXPECT_EQUAL(added(Sum::kCrc32), "viw8LQ==");
  EXPECT_EQUAL(added(Sum::kCrc32c), "kCMovw==");
  EXPECT_EQUAL(added(Sum::kCrc64Nvme), "jL/9j/svPWM=");
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

Checksum Of(std::map<std::string, std::string> headers) {
  Response response;
  response.headers = std::move(headers);
  return ChecksumOf(response);
}

TEST(ChecksumsOfAnswers) {
  const std::string md5 = "25f9e794323b453885f5181f1b624d0b";
  const std::string etag = "\"" + md5 + "\"";
  EXPECT_EQUAL(Of({{"etag", etag}}).text, md5);
  EXPECT_EQUAL(Of({{"etag", "W/" + etag}}).text, md5);
  EXPECT_EQUAL(Of({{"etag", etag}, {"x-amz-checksum-crc32", "y/Q5Jg=="}}).text, "y/Q5Jg==");
  EXPECT_EQUAL(Of({{"x-amz-checksum-sha1", "a"}, {"x-amz-checksum-crc32c", "b"}}).text, "b");
  EXPECT_EQUAL(Of({{"etag", etag}, {"x-amz-server-side-encryption", "AES256"}}).text, md5);
}

TEST(ChecksumsThatAreNone) {
  const std::string etag = "\"25f9e794323b453885f5181f1b624d0b\"";
  const auto is_none = [](const Checksum& checksum) { return checksum.sum == Sum::kNone; };
  EXPECT_EQUAL(is_none(Of({})), true);
  EXPECT_EQUAL(is_none(Of({{"etag", "\"25f9e794323b453885f5181f1b624d0b-2\""}})), true);
  EXPECT_EQUAL(is_none(Of({{"etag", "\"0x8D\""}})), true);
  EXPECT_EQUAL(is_none(Of({{"etag", etag}, {"x-amz-server-side-encryption", "aws:kms"}})), true);
  EXPECT_EQUAL(
      is_none(Of({{"etag", etag}, {"x-amz-server-side-encryption-customer-algorithm", "AES256"}})),
      true);
  // Sums of sums.
  EXPECT_EQUAL(is_none(Of({{"x-amz-checksum-crc32", "y/Q5Jg==-2"}})), true);
  EXPECT_EQUAL(
      is_none(Of({{"x-amz-checksum-crc32", "y/Q5Jg=="}, {"x-amz-checksum-type", "COMPOSITE"}})),
      true);
}

}  // namespace
}  // namespace objectstore
