// Compiled and linked when a build is configured: whether what is installed is new enough for these
// plugins.

#include <curl/curl.h>
#include <openssl/evp.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

// CURLOPT_PROXY_CAINFO; curl.cc asks the one that is there at run time
static_assert(LIBCURL_VERSION_NUM >= 0x073400, "objectstore needs libcurl 7.52 or newer");
// What is opened at run time is libcrypto.so.3.
static_assert(OPENSSL_VERSION_NUMBER >= 0x30000000L, "objectstore needs OpenSSL 3.0 or newer");
// json::contains
static_assert(NLOHMANN_JSON_VERSION_MAJOR * 100 + NLOHMANN_JSON_VERSION_MINOR >= 306,
              "objectstore needs nlohmann 3.6 or newer");

int main() {
  pugi::xml_document document;
  return document.load_string("<ListBucketResult/>") ? 0 : 1;
}
