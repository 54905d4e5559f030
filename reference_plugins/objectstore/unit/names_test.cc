#include "names.h"

#include <cstdlib>

#include "test.h"

namespace objectstore {
namespace {

std::string Translated(const char* uri) {
  char* name = TranslatedName(unit::Somebody(), uri);
  const std::string text = name;
  std::free(name);
  return text;
}

Config Plain() {
  Config config;
  config.plugin = unit::Somebody();
  return config;
}

TEST(TranslateNameKeepsTheBucket) {
  EXPECT_EQUAL(Translated("s3x://bucket/a/../b//c/."), "s3x://bucket/b/c");
  EXPECT_EQUAL(Translated("s3x://bucket/../../a"), "s3x://bucket/a");
  EXPECT_EQUAL(Translated("s3x://bucket"), "s3x://bucket/");
  EXPECT_EQUAL(Translated("s3x://bucket/dir/"), "s3x://bucket/dir");
}

TEST(TranslateNameOfLocalFiles) {
  EXPECT_EQUAL(Translated("s3x:///tmp//x"), "/tmp/x");
  EXPECT_EQUAL(Translated("s3x://"), "/");
  EXPECT_EQUAL(Translated("/tmp/x/"), "/tmp/x");
  EXPECT_EQUAL(Translated(""), "");
}

TEST(LocalPathsHaveNoBucket) {
  EXPECT_EQUAL(std::string(LocalPath(unit::Somebody(), "/tmp/x")), "/tmp/x");
  EXPECT_EQUAL(std::string(LocalPath(unit::Somebody(), "s3x:///tmp/x")), "/tmp/x");
  EXPECT_EQUAL(LocalPath(unit::Somebody(), "s3x://bucket/x") == nullptr, true);
}

TEST(ObjectNames) {
  const Name name = ObjectName(Plain(), "s3x://bucket/a/b");
  EXPECT_EQUAL(name.bucket, "bucket");
  EXPECT_EQUAL(name.key, "a/b");
  EXPECT_EQUAL(ParentOf(name).key, "a");
  EXPECT_EQUAL(ParentOf(ParentOf(name)).key, "");
  EXPECT_EQUAL(Inside(name), "a/b/");
  EXPECT_EQUAL(ObjectName(Plain(), "s3x://bucket/").key, "");
}

TEST(KeysAreUtf8) {
  for (const char* key :
       {"\u00e4", "\u65e5\u672c", "\U0001f600", "a\tb\nc\rd", "\U0010ffff", "\x7f"}) {
    EXPECT_EQUAL(ObjectName(Plain(), (std::string("s3x://bucket/") + key).c_str()).key, key);
  }
  for (const char* key :
       {"\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe6\x97", "\xe6\x97x"}) {
    EXPECT_FAILS(ObjectName(Plain(), (std::string("s3x://bucket/") + key).c_str()),
                 TF_INVALID_ARGUMENT, "UTF-8");
  }
}

TEST(KeysAreWhatXmlCanSay) {
  for (const char* key : {"a\x01", "\x1f", "\uffff", "\ufffe"}) {
    EXPECT_FAILS(ObjectName(Plain(), (std::string("s3x://bucket/") + key).c_str()),
                 TF_INVALID_ARGUMENT, "control character");
  }
}

TEST(NamesThatLeadElsewhereAreRefused) {
  for (const char* path : {"s3x://bucket/a/../b", "s3x://bucket/./a", "s3x://bucket/a//b",
                           "s3x://bucket/a/", "s3x://../a", "s3x://b@d/a", "s3x://b%2e/a"}) {
    EXPECT_FAILS(ObjectName(Plain(), path), TF_INVALID_ARGUMENT, "");
  }
  EXPECT_FAILS(ObjectName(Plain(), ("s3x://bucket/" + std::string(1024, 'a')).c_str()),
               TF_INVALID_ARGUMENT, "too long");
  Config config = Plain();
  config.bucket_name = "other";
  EXPECT_FAILS(ObjectName(config, "s3x://bucket/a"), TF_NOT_FOUND, "another bucket");
}

}  // namespace
}  // namespace objectstore
