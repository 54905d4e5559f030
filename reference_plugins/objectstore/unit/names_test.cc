#include "names.h"

#include <cstdlib>

#include "test.h"

namespace dragonfly {
namespace {

std::string Translated(const char* uri) {
  char* name = TranslateName(nullptr, uri);
  const std::string text = name;
  std::free(name);
  return text;
}

TEST(TranslateNameKeepsTheBucket) {
  EXPECT_EQUAL(Translated("dragonfly://bucket/a/../b//c/."), "dragonfly://bucket/b/c");
  EXPECT_EQUAL(Translated("dragonfly://bucket/../../a"), "dragonfly://bucket/a");
  EXPECT_EQUAL(Translated("dragonfly://bucket"), "dragonfly://bucket/");
  EXPECT_EQUAL(Translated("dragonfly://bucket/dir/"), "dragonfly://bucket/dir");
}

TEST(TranslateNameOfLocalFiles) {
  EXPECT_EQUAL(Translated("dragonfly:///tmp//x"), "/tmp/x");
  EXPECT_EQUAL(Translated("dragonfly://"), "/");
  EXPECT_EQUAL(Translated("/tmp/x/"), "/tmp/x");
  EXPECT_EQUAL(Translated(""), "");
}

TEST(LocalPathsHaveNoBucket) {
  EXPECT_EQUAL(std::string(LocalPath("/tmp/x")), "/tmp/x");
  EXPECT_EQUAL(std::string(LocalPath("dragonfly:///tmp/x")), "/tmp/x");
  EXPECT_EQUAL(LocalPath("dragonfly://bucket/x") == nullptr, true);
}

TEST(ObjectNames) {
  const Name name = ObjectName({}, "dragonfly://bucket/a/b");
  EXPECT_EQUAL(name.bucket, "bucket");
  EXPECT_EQUAL(name.key, "a/b");
  EXPECT_EQUAL(ParentOf(name).key, "a");
  EXPECT_EQUAL(ParentOf(ParentOf(name)).key, "");
  EXPECT_EQUAL(Inside(name), "a/b/");
  EXPECT_EQUAL(ObjectName({}, "dragonfly://bucket/").key, "");
}

TEST(KeysAreUtf8) {
  for (const char* key :
       {"\u00e4", "\u65e5\u672c", "\U0001f600", "a\tb\nc\rd", "\U0010ffff", "\x7f"}) {
    EXPECT_EQUAL(ObjectName({}, (std::string("dragonfly://bucket/") + key).c_str()).key, key);
  }
  for (const char* key :
       {"\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe6\x97", "\xe6\x97x"}) {
    EXPECT_FAILS(ObjectName({}, (std::string("dragonfly://bucket/") + key).c_str()),
                 TF_INVALID_ARGUMENT, "UTF-8");
  }
}

TEST(KeysAreWhatXmlCanSay) {
  for (const char* key : {"a\x01", "\x1f", "\uffff", "\ufffe"}) {
    EXPECT_FAILS(ObjectName({}, (std::string("dragonfly://bucket/") + key).c_str()),
                 TF_INVALID_ARGUMENT, "control character");
  }
}

TEST(NamesThatLeadElsewhereAreRefused) {
  for (const char* path :
       {"dragonfly://bucket/a/../b", "dragonfly://bucket/./a", "dragonfly://bucket/a//b",
        "dragonfly://bucket/a/", "dragonfly://../a", "dragonfly://b@d/a", "dragonfly://b%2e/a"}) {
    EXPECT_FAILS(ObjectName({}, path), TF_INVALID_ARGUMENT, "");
  }
  EXPECT_FAILS(ObjectName({}, ("dragonfly://bucket/" + std::string(1024, 'a')).c_str()),
               TF_INVALID_ARGUMENT, "too long");
  Config config;
  config.bucket_name = "other";
  EXPECT_FAILS(ObjectName(config, "dragonfly://bucket/a"), TF_NOT_FOUND, "another bucket");
}

}  // namespace
}  // namespace dragonfly
