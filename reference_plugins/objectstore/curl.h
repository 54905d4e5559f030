// libcurl, found at run time (library.h says why). The headers give types and constants; every call
// goes through this table.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CURL_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CURL_H_

// The checks of types are macros around the functions, which are not called here.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
// Where it checks nothing, curl.h makes macros of the variadic functions all the same.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_share_setopt

#include <string>

namespace objectstore {

struct Curl {
  std::string version;  // what a request says of who sends it: which libcurl
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_perform) easy_perform;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;
  decltype(&curl_share_init) share_init;
  decltype(&curl_share_cleanup) share_cleanup;
  decltype(&curl_share_setopt) share_setopt;
};

// Loads libcurl and prepares it, once. Throws Failure where there is none.
const Curl& curl();

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CURL_H_
