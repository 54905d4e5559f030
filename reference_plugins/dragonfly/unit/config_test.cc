#include "dragonfly/config.h"

#include <utility>

#include "unit/test.h"

namespace dragonfly {
namespace {

// A configuration with all that is needed, and `more`: ', "key": value'.
std::string With(const std::string& more, const std::string& in_store = "") {
  return R"({"addr": "http://127.0.0.1:4001", "object_storage": {"endpoint": "http://s3:9000",
             "access_key": "key", "secret_key": "hidden")" +
         in_store + "}" + more + "}";
}

Config Parsed(const std::string& text) {
  return ParseConfig({"dragonfly", "DRAGONFLY_CONFIG_PATH"}, text);
}

TEST(ConfigHasDefaults) {
  const Config config = Parsed(With(""));
  EXPECT_EQUAL(config.proxy_endpoint, "http://s3:9000");
  EXPECT_EQUAL(config.require_p2p, true);
  EXPECT_EQUAL(config.fallback_to_source, false);
  EXPECT_EQUAL(config.filter.size(), size_t{7});
  EXPECT_EQUAL(config.store.endpoint, "http://s3:9000");
}

TEST(ConfigTakesOtherNames) {
  const Config config =
      Parsed(R"({"proxy": "http://p:1/", "object_storage": {"proxy_endpoint": "http://s3"}})");
  EXPECT_EQUAL(config.addr, "http://p:1");
  EXPECT_EQUAL(config.proxy_endpoint, "http://s3");
  EXPECT_EQUAL(config.store.endpoint, "https://s3.us-east-1.amazonaws.com");
}

TEST(ConfigsThatAreRefused) {
  const std::pair<std::string, const char*> rows[] = {
      {"{}", "addr is missing"},
      {R"({"addr": "http://p:1/path"})", "the key addr"},
      {R"({"addr": "http://p:1"})", "object_storage.proxy_endpoint is missing"},
      {With(R"(, "proxy": "http://p:1")"), "addr is given twice"},
      {With(R"(, "require_p2p": 1)"), "the key require_p2p is not true or false"},
      {With(R"(, "task_version": "md5")"), "the key task_version"},
      {With(R"(, "filter": ["a", 1])"), "the key filter"},
      {With(R"(, "header": {"A": 1})"), "the key header.A"},
      {With(R"(, "header": {"A": "b\r\nC: d"})"), "the key header"},
      {With("", R"(, "proxy_endpoint": "s3:9000")"), "the key object_storage.proxy_endpoint"},
      {With("", R"(, "proxy_endpoint": "http://a:b@s3")"), "the key object_storage.proxy_endpoint"},
      {With(R"(, "retires": 3)"), "the key retires is not known"},
      {With(R"(, "sign_expires_s": 0)"), "the key sign_expires_s is not between 1 and"},
      {With(R"(, "fallback_to_source": 1)"), "fallback_to_source is not true or false"}};
  for (const auto& [text, why] : rows) EXPECT_FAILS(Parsed(text), TF_INVALID_ARGUMENT, why);
}

}  // namespace
}  // namespace dragonfly
