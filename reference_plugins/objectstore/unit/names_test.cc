#include "names.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "test.h"

namespace objectstore {
namespace {

Config Plain() {
  Config config;
  config.plugin = unit::Somebody();
  return config;
}

TEST(NamesAreTranslated) {
  const std::pair<const char*, const char*> rows[] = {
      {"s3x://bucket/a/../b//c/.", "s3x://bucket/b/c"},
      {"s3x://bucket/../../a", "s3x://bucket/a"},
      {"s3x://bucket", "s3x://bucket/"},
      {"s3x://bucket/dir/", "s3x://bucket/dir"},
      {"s3x:///tmp//x", "/tmp/x"},
      {"s3x://", "/"},
      {"/tmp/x/", "/tmp/x"},
      {"", ""}};
  for (const auto& [uri, translated] : rows) {
    char* name = TranslatedName(unit::Somebody(), uri);
    EXPECT_EQUAL(std::string(name), translated);
    std::free(name);
  }
}

TEST(NamesThatAreRefused) {
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {"UTF-8",
       {"bucket/\xff", "bucket/\x80", "bucket/\xc3", "bucket/\xc0\x80", "bucket/\xe0\x80\x80",
        "bucket/\xed\xa0\x80", "bucket/\xf0\x80\x80\x80", "bucket/\xf4\x90\x80\x80",
        "bucket/\xf5\x80\x80\x80", "bucket/\xe6\x97", "bucket/\xe6\x97x"}},
      // XML cannot say them.
      {"control character", {"bucket/a\x01", "bucket/\x1f", "bucket/\uffff", "bucket/\ufffe"}},
      {"too long", {"bucket/" + std::string(1024, 'a')}},
      // They lead elsewhere.
      {"", {"bucket/a/../b", "bucket/./a", "bucket/a//b", "bucket/a/", "../a", "b@d/a", "b%2e/a"}}};
  for (const auto& [why, names] : rows) {
    for (const std::string& name : names) {
      EXPECT_FAILS(ObjectName(Plain(), ("s3x://" + name).c_str()), TF_INVALID_ARGUMENT, why);
    }
  }
  Config config = Plain();
  config.bucket_name = "other";
  EXPECT_FAILS(ObjectName(config, "s3x://bucket/a"), TF_NOT_FOUND, "another bucket");
}

}  // namespace
}  // namespace objectstore
