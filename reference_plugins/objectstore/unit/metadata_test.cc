#include "metadata.h"

#include <thread>

#include "test.h"

namespace objectstore {
namespace {

const Name kName = {"bucket", "key"};

Version OfSize(uint64_t size) { return {"\"etag\"", size, 0, {}}; }

TEST(MetadataAreForgottenAfterAWhile) {
  Metadata metadata(0.01);
  metadata.Keep(kName, OfSize(7), metadata.changes());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQUAL(metadata.Find(kName).has_value(), false);
}

TEST(MetadataFromBeforeAChangeAreNotKept) {
  Metadata metadata(60);
  const uint64_t before = metadata.changes();
  {
    const Metadata::Change change(metadata, kName);
  }
  metadata.Keep(kName, OfSize(7), before);
  EXPECT_EQUAL(metadata.Find(kName).has_value(), false);
}

TEST(MetadataHaveALimit) {
  Metadata metadata(60);
  int left = 0;
  for (int k = 0; k < 5000; ++k) {
    metadata.Keep({"bucket", std::to_string(k)}, OfSize(1), metadata.changes());
  }
  for (int k = 0; k < 5000; ++k) {
    if (metadata.Find({"bucket", std::to_string(k)})) ++left;
  }
  EXPECT_EQUAL(left > 0 && left <= 4096, true);
}

}  // namespace
}  // namespace objectstore
