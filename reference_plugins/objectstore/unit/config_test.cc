#include "config.h"

#include <utility>

#include "test.h"

namespace objectstore {
namespace {

// A configuration with all that is needed, and `more`: ', "key": value'.
std::string With(const std::string& more, const std::string& in_store = "") {
  return R"({"object_storage": {"endpoint": "http://s3:9000",
             "access_key": "key", "secret_key": "hidden")" +
         in_store + "}" + more + "}";
}

Config Parsed(const std::string& text) { return ParseConfig(unit::Somebody(), text); }

TEST(ConfigHasDefaults) {
  const Config config = Parsed(With(""));
  EXPECT_EQUAL(config.region, "us-east-1");
  EXPECT_EQUAL(config.cache_max_bytes, uint64_t{1} << 30);
  EXPECT_EQUAL(config.max_connections, 32);
  EXPECT_EQUAL(config.copy_part_bytes, uint64_t{5} << 30);
  EXPECT_EQUAL(config.metadata_ttl_s, 0.0);
  EXPECT_EQUAL(config.retry_deadline_s, 30.0);
  EXPECT_EQUAL(Parsed(R"({"object_storage": {"region": "eu"}})").credentials.access_key, "");
}

TEST(ConfigTakesOtherNames) {
  const Config other =
      Parsed(R"({"object_storage": {"access_key_id": "a", "access_key_secret": "b"}})");
  EXPECT_EQUAL(other.credentials.access_key + other.credentials.secret_key, "ab");
}

TEST(ConfigHasHostsAsTheyAreSent) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("endpoint": "http://S3.Example:80/")", "http://s3.example"},
      {R"("endpoint": "https://s3:443")", "https://s3"},
      {R"("endpoint": "http://s3:443")", "http://s3:443"},
      {R"("endpoint": "http://s3:8080")", "http://s3:8080"},
      {"", "https://s3.us-east-1.amazonaws.com"},
      {R"("region": "cn-north-1")", "https://s3.cn-north-1.amazonaws.com.cn"}};
  for (const auto& [given, endpoint] : rows) {
    EXPECT_EQUAL(Parsed(std::string(R"({"object_storage": {)") + given + "}}").endpoint, endpoint);
  }
}

TEST(ConfigsThatAreRefused) {
  const std::pair<std::string, const char*> rows[] = {
      {"[1]", "the key of the file"},
      {R"({"object_storage": 1})", "the key object_storage"},
      {R"({"object_storage": {"access_key": "a"}})", "object_storage.secret_key is missing"},
      {R"({"object_storage": {"secret_key": "b"}})", "object_storage.access_key is missing"},
      {R"({"object_storage": {"session_token": "c"}})", "object_storage.access_key is missing"},
      {With("", R"(, "access_key_id": "a")"), "object_storage.access_key is given twice"},
      {With("", R"(, "regoin": "eu")"), "the key object_storage.regoin is not known"},
      {With("", R"(, "type": "oss")"), "the key object_storage.type"},
      {With("", R"(, "proxy_endpoint": "http://s3")"), "object_storage.proxy_endpoint is not"},
      {With(R"(, "retires": 3)"), "the key retires is not known"},
      {With(R"(, "max_connections": 0)"), "max_connections is not between 1 and 1024"},
      {With(R"(, "copy_part_bytes": 10485759)"), "copy_part_bytes is not between 10485760"},
      {With(R"(, "whole_object_below": -1)"), "whole_object_below is not a whole number"},
      {With(R"(, "read_ahead": 1073741825)"), "the key read_ahead is not between 0 and"},
      {With(R"(, "list_max_pages": "3")"), "the key list_max_pages is not a whole number"},
      {With(R"(, "list_max_pages": -1)"), "the key list_max_pages"},
      {With(R"(, "list_max_pages": 0)"), "the key list_max_pages is not between 1 and"},
      {With(R"(, "retry_deadline_s": "3")"), "the key retry_deadline_s is no number"},
      {With(R"(, "retry_deadline_s": -0.1)"), "the key retry_deadline_s is not between 0 and"},
      {With(R"(, "verify": "md5")"), "the key verify"},
      {With(R"(, "cache_dir": "/no/such/directory")"), "the key cache_dir"},
      {With(R"(, "ca_file": "/dev/null")"), "no certificate"},
      {With("") + "}", "is no JSON"}};
  for (const auto& [text, why] : rows) {
    EXPECT_FAILS(Parsed(text), TF_INVALID_ARGUMENT, why);
    try {
      Parsed(text);
    } catch (const Failure& failure) {
      // A secret that is in the file is not in the message.
      EXPECT_EQUAL(std::string(failure.what()).find("hidden"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace objectstore
