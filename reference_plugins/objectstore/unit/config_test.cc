#include "config.h"

#include <cstdlib>

#include "test.h"

namespace dragonfly {
namespace {

// A configuration with all that is needed, and `more`: ', "key": value'.
std::string With(const std::string& more, const std::string& in_store = "") {
  return R"({"addr": "http://127.0.0.1:4001", "object_storage": {"endpoint": "http://s3:9000",
             "access_key": "key", "secret_key": "hidden")" +
         in_store + "}" + more + "}";
}

void Refused(const std::string& text, const std::string& why) {
  EXPECT_FAILS(ParseConfig(text), TF_INVALID_ARGUMENT, why);
}

TEST(ConfigHasDefaults) {
  const Config config = ParseConfig(With(""));
  EXPECT_EQUAL(config.proxy_endpoint, "http://s3:9000");
  EXPECT_EQUAL(config.region, "us-east-1");
  EXPECT_EQUAL(config.require_p2p, true);
  EXPECT_EQUAL(config.fallback_to_source, false);
  EXPECT_EQUAL(config.cache_max_bytes, uint64_t{1} << 30);
  EXPECT_EQUAL(config.filter.size(), size_t{7});
}

TEST(ConfigTakesOtherNames) {
  const Config config = ParseConfig(
      R"({"proxy": "http://p:1/", "object_storage": {"access_key_id": "a", "access_key_secret": "b",
                                                     "proxy_endpoint": "http://s3"}})");
  EXPECT_EQUAL(config.addr, "http://p:1");
  EXPECT_EQUAL(config.credentials.access_key, "a");
  EXPECT_EQUAL(config.credentials.secret_key, "b");
  EXPECT_EQUAL(config.endpoint, "https://s3.us-east-1.amazonaws.com");
  Refused(With(R"(, "proxy": "http://p:1")"), "addr is given twice");
  Refused(With("", R"(, "access_key_id": "a")"), "object_storage.access_key is given twice");
}

TEST(ConfigKnowsTheRegionsOfChina) {
  const Config config = ParseConfig(
      R"({"addr": "http://p:1", "object_storage": {"region": "cn-north-1", "proxy_endpoint": "http://s3"}})");
  EXPECT_EQUAL(config.endpoint, "https://s3.cn-north-1.amazonaws.com.cn");
}

TEST(ConfigHasHostsAsTheyAreSent) {
  const auto endpoint = [](const std::string& given) {
    return ParseConfig(R"({"addr": "http://p:1", "object_storage": {"endpoint": ")" + given +
                       R"(", "proxy_endpoint": "http://s3"}})")
        .endpoint;
  };
  EXPECT_EQUAL(endpoint("http://S3.Example:80/"), "http://s3.example");
  EXPECT_EQUAL(endpoint("https://s3:443"), "https://s3");
  EXPECT_EQUAL(endpoint("http://s3:443"), "http://s3:443");
  EXPECT_EQUAL(endpoint("http://s3:8080"), "http://s3:8080");
}

TEST(ConfigLimitsConnections) {
  EXPECT_EQUAL(ParseConfig(With("")).max_connections, 32);
  EXPECT_EQUAL(ParseConfig(With(R"(, "max_connections": 1)")).max_connections, 1);
  Refused(With(R"(, "max_connections": 0)"), "max_connections is not between 1 and 1024");
}

TEST(ConfigLimitsCopies) {
  EXPECT_EQUAL(ParseConfig(With("")).copy_part_bytes, uint64_t{5} << 30);
  EXPECT_EQUAL(ParseConfig(With(R"(, "copy_part_bytes": 5242880)")).copy_part_bytes, 5242880u);
  Refused(With(R"(, "copy_part_bytes": 5242879)"), "copy_part_bytes is not between 5242880");
}

TEST(ConfigRemembersNothing) {
  EXPECT_EQUAL(ParseConfig(With("")).metadata_ttl_s, 0.0);
  EXPECT_EQUAL(ParseConfig(With(R"(, "metadata_ttl_s": 1.5)")).metadata_ttl_s, 1.5);
}

TEST(ConfigTakesFractionsOfSeconds) {
  EXPECT_EQUAL(ParseConfig(With("")).retry_deadline_s, 30.0);
  EXPECT_EQUAL(ParseConfig(With(R"(, "retry_deadline_s": 0.5)")).retry_deadline_s, 0.5);
  EXPECT_EQUAL(ParseConfig(With(R"(, "retry_deadline_s": 2)")).retry_deadline_s, 2.0);
}

TEST(ConfigNamesTheKey) {
  Refused("[1]", "the key of the file");
  Refused("{", "is no JSON");
  Refused("{}", "addr is missing");
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
  Refused(With(R"(, "require_p2p": 1)"), "the key require_p2p is not true or false");
  Refused(With(R"(, "task_version": "md5")"), "the key task_version");
  Refused(With(R"(, "cache_dir": "/no/such/directory")"), "the key cache_dir");
  Refused(With(R"(, "filter": ["a", 1])"), "the key filter");
  Refused(With(R"(, "header": {"A": 1})"), "the key header.A");
  Refused(With(R"(, "header": {"A": "b\r\nC: d"})"), "the key header");
  Refused(With("", R"(, "type": "oss")"), "the key object_storage.type");
  Refused(With("", R"(, "proxy_endpoint": "s3:9000")"), "the key object_storage.proxy_endpoint");
  Refused(With("", R"(, "proxy_endpoint": "http://a:b@s3")"),
          "the key object_storage.proxy_endpoint");
  Refused(R"({"addr": "http://p:1/path"})", "the key addr");
  Refused(R"({"addr": "http://p:1"})", "object_storage.proxy_endpoint is missing");
  Refused(With(R"(, "ca_file": "/no/such/file")"), "the key ca_file names /no/such/file");
  Refused(With(R"(, "ca_file": "/dev/null")"), "no certificate");
  Refused(With(R"(, "client_key": "/dev/null")"), "the key client_key is given without");
  Refused(With(R"(, "client_certificate": "/dev/null")"), "the key client_certificate names");
  Refused(R"({"addr": "http://p:1", "object_storage": 1})", "the key object_storage");
}

TEST(ConfigKeepsSecrets) {
  for (const std::string& text : {With(R"(, "x": 1)"), With("", R"(, "y": 1)"), With("") + "}"}) {
    try {
      ParseConfig(text);
      EXPECT_EQUAL(std::string("refused"), "taken");
    } catch (const Failure& failure) {
      EXPECT_EQUAL(std::string(failure.what()).find("hidden"), std::string::npos);
    }
  }
}

TEST(ConfigHasAllCredentialsOrNone) {
  const auto with = [](const std::string& keys) {
    return R"({"addr": "http://p:1", "object_storage": {"endpoint": "http://s3", )" + keys + "}}";
  };
  EXPECT_EQUAL(ParseConfig(with(R"("region": "eu")")).credentials.access_key, "");
  Refused(with(R"("access_key": "a")"), "object_storage.secret_key is missing");
  Refused(with(R"("secret_key": "b")"), "object_storage.access_key is missing");
  Refused(with(R"("session_token": "c")"), "object_storage.access_key is missing");
}

TEST(ConfigIsFoundByItsVariable) {
  unsetenv("DRAGONFLY_CONFIG_PATH");
  EXPECT_FAILS(ReadConfig(), TF_NOT_FOUND, "DRAGONFLY_CONFIG_PATH is not set");
  setenv("DRAGONFLY_CONFIG_PATH", "/no/such/file.json", 1);
  EXPECT_FAILS(ReadConfig(), TF_NOT_FOUND, "/no/such/file.json");
}

}  // namespace
}  // namespace dragonfly
