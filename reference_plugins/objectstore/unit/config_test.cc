#include "config.h"

#include <cstdlib>

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

void Refused(const std::string& text, const std::string& why) {
  EXPECT_FAILS(Parsed(text), TF_INVALID_ARGUMENT, why);
}

TEST(ConfigHasDefaults) {
  const Config config = Parsed(With(""));
  EXPECT_EQUAL(config.region, "us-east-1");
  EXPECT_EQUAL(config.cache_max_bytes, uint64_t{1} << 30);
}

TEST(ConfigTakesOtherNames) {
  const Config config =
      Parsed(R"({"object_storage": {"access_key_id": "a", "access_key_secret": "b"}})");
  EXPECT_EQUAL(config.credentials.access_key, "a");
  EXPECT_EQUAL(config.credentials.secret_key, "b");
  EXPECT_EQUAL(config.endpoint, "https://s3.us-east-1.amazonaws.com");
  Refused(With("", R"(, "access_key_id": "a")"), "object_storage.access_key is given twice");
}

TEST(ConfigKnowsTheRegionsOfChina) {
  const Config config = Parsed(R"({"object_storage": {"region": "cn-north-1"}})");
  EXPECT_EQUAL(config.endpoint, "https://s3.cn-north-1.amazonaws.com.cn");
}

TEST(ConfigHasHostsAsTheyAreSent) {
  const auto endpoint = [](const std::string& given) {
    return Parsed(R"({"object_storage": {"endpoint": ")" + given + R"("}})").endpoint;
  };
  EXPECT_EQUAL(endpoint("http://S3.Example:80/"), "http://s3.example");
  EXPECT_EQUAL(endpoint("https://s3:443"), "https://s3");
  EXPECT_EQUAL(endpoint("http://s3:443"), "http://s3:443");
  EXPECT_EQUAL(endpoint("http://s3:8080"), "http://s3:8080");
}

TEST(ConfigLimitsConnections) {
  EXPECT_EQUAL(Parsed(With("")).max_connections, 32);
  EXPECT_EQUAL(Parsed(With(R"(, "max_connections": 1)")).max_connections, 1);
  Refused(With(R"(, "max_connections": 0)"), "max_connections is not between 1 and 1024");
}

TEST(ConfigLimitsCopies) {
  EXPECT_EQUAL(Parsed(With("")).copy_part_bytes, uint64_t{5} << 30);
  EXPECT_EQUAL(Parsed(With(R"(, "copy_part_bytes": 10485760)")).copy_part_bytes, 10485760u);
  Refused(With(R"(, "copy_part_bytes": 10485759)"), "copy_part_bytes is not between 10485760");
}

TEST(ConfigRemembersNothing) {
  EXPECT_EQUAL(Parsed(With("")).metadata_ttl_s, 0.0);
  EXPECT_EQUAL(Parsed(With(R"(, "metadata_ttl_s": 1.5)")).metadata_ttl_s, 1.5);
}

TEST(ConfigTakesFractionsOfSeconds) {
  EXPECT_EQUAL(Parsed(With("")).retry_deadline_s, 30.0);
  EXPECT_EQUAL(Parsed(With(R"(, "retry_deadline_s": 0.5)")).retry_deadline_s, 0.5);
  EXPECT_EQUAL(Parsed(With(R"(, "retry_deadline_s": 2)")).retry_deadline_s, 2.0);
}

TEST(ConfigNamesTheKey) {
  Refused("[1]", "the key of the file");
  Refused("{", "is no JSON");
  Refused(With(R"(, "retires": 3)"), "the key retires is not known");
  Refused(With("", R"(, "regoin": "eu")"), "the key object_storage.regoin is not known");
  Refused(With(R"(, "whole_object_below": -1)"),
          "the key whole_object_below is not a whole number");
  Refused(With(R"(, "read_ahead": 1073741825)"), "the key read_ahead is not between 0 and");
  Refused(With(R"(, "list_max_pages": "3")"), "the key list_max_pages is not a whole number");
  Refused(With(R"(, "list_max_pages": -1)"), "the key list_max_pages");
  Refused(With(R"(, "list_max_pages": 0)"), "the key list_max_pages is not between 1 and");
  Refused(With(R"(, "retry_deadline_s": "3")"), "the key retry_deadline_s is no number");
  Refused(With(R"(, "retry_deadline_s": -0.1)"), "the key retry_deadline_s is not between 0 and");
  Refused(With(R"(, "verify": "md5")"), "the key verify");
  Refused(With(R"(, "cache_dir": "/no/such/directory")"), "the key cache_dir");
  Refused(With("", R"(, "type": "oss")"), "the key object_storage.type");
  Refused(With(R"(, "ca_file": "/no/such/file")"), "the key ca_file names /no/such/file");
  Refused(With(R"(, "ca_file": "/dev/null")"), "no certificate");
  Refused(With(R"(, "client_key": "/dev/null")"), "the key client_key is given without");
  Refused(With(R"(, "client_certificate": "/dev/null")"), "the key client_certificate names");
  Refused(R"({"object_storage": 1})", "the key object_storage");
  Refused(With(R"(, "addr": "http://p:1")"), "the key addr is not known");
  Refused(With("", R"(, "proxy_endpoint": "http://s3")"), "object_storage.proxy_endpoint is not");
}

TEST(ConfigKeepsSecrets) {
  for (const std::string& text : {With(R"(, "x": 1)"), With("", R"(, "y": 1)"), With("") + "}"}) {
    try {
      Parsed(text);
      EXPECT_EQUAL(std::string("refused"), "taken");
    } catch (const Failure& failure) {
      EXPECT_EQUAL(std::string(failure.what()).find("hidden"), std::string::npos);
    }
  }
}

TEST(ConfigHasAllCredentialsOrNone) {
  const auto with = [](const std::string& keys) {
    return R"({"object_storage": {"endpoint": "http://s3", )" + keys + "}}";
  };
  EXPECT_EQUAL(Parsed(with(R"("region": "eu")")).credentials.access_key, "");
  Refused(with(R"("access_key": "a")"), "object_storage.secret_key is missing");
  Refused(with(R"("secret_key": "b")"), "object_storage.access_key is missing");
  Refused(with(R"("session_token": "c")"), "object_storage.access_key is missing");
}

TEST(ConfigIsFoundByItsVariable) {
  const auto read = [] { ReadConfigFile(unit::Somebody(), Parsed); };
  unsetenv("S3X_CONFIG_PATH");
  EXPECT_FAILS(read(), TF_NOT_FOUND, "S3X_CONFIG_PATH is not set");
  setenv("S3X_CONFIG_PATH", "/no/such/file.json", 1);
  EXPECT_FAILS(read(), TF_NOT_FOUND, "/no/such/file.json");
  setenv("S3X_CONFIG_PATH", "/dev/null", 1);
  EXPECT_FAILS(read(), TF_INVALID_ARGUMENT, "/dev/null: the file is no JSON");
}

}  // namespace
}  // namespace objectstore
