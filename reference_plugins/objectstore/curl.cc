#include "curl.h"

#include "failure.h"
#include "library.h"

namespace objectstore {
namespace {

Curl Load() {
  const Library library("libcurl.so.4");
  Curl curl;
  library.Find("curl_easy_init", &curl.easy_init);
  library.Find("curl_easy_cleanup", &curl.easy_cleanup);
  library.Find("curl_easy_reset", &curl.easy_reset);
  library.Find("curl_easy_setopt", &curl.easy_setopt);
  library.Find("curl_easy_getinfo", &curl.easy_getinfo);
  library.Find("curl_easy_perform", &curl.easy_perform);
  library.Find("curl_easy_strerror", &curl.easy_strerror);
  library.Find("curl_slist_append", &curl.slist_append);
  library.Find("curl_slist_free_all", &curl.slist_free_all);
  library.Find("curl_share_init", &curl.share_init);
  library.Find("curl_share_cleanup", &curl.share_cleanup);
  library.Find("curl_share_setopt", &curl.share_setopt);

  // The options that http.cc sets. What it was compiled with says nothing of what is here.
  constexpr unsigned kLeast = 0x073400;
  decltype(&curl_version_info) version_info;
  library.Find("curl_version_info", &version_info);
  const curl_version_info_data& found = *version_info(CURLVERSION_NOW);
  if (found.version_num < kLeast) {
    throw Failure(TF_FAILED_PRECONDITION,
                  std::string("libcurl.so.4 is ") + found.version + ", and 7.52 is needed");
  }

  decltype(&curl_global_init) global_init;
  library.Find("curl_global_init", &global_init);
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    throw Failure(TF_INTERNAL, "libcurl does not start");
  }
  // Asked once: it writes its answer to the same place every time, whoever reads there.
  decltype(&curl_version) version;
  library.Find("curl_version", &version);
  curl.version = version();
  return curl;
}

}  // namespace

const Curl& curl() {
  static const Curl functions = Load();
  return functions;
}

}  // namespace objectstore
