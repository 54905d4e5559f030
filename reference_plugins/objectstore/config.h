// What a user configures, read once, in init, from the JSON file that DRAGONFLY_CONFIG_PATH names.
// README.md lists the keys.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sigv4.h"
#include "tls.h"

namespace dragonfly {

// Which bytes are compared with what the store says that they add up to.
enum class Verify { kAll, kChecksum, kNone };

struct Config {
  std::string addr;  // of dfdaemon's HTTP proxy
  std::map<std::string, std::string> header;
  std::vector<std::string> filter = {
      "X-Amz-Algorithm",     "X-Amz-Credential", "X-Amz-Date",          "X-Amz-Expires",
      "X-Amz-SignedHeaders", "X-Amz-Signature",  "X-Amz-Security-Token"};

  std::string bucket_name;  // the only bucket there is; empty: any
  std::string region = "us-east-1";
  std::string endpoint;        // as this process reaches the store
  std::string proxy_endpoint;  // as dfdaemon reaches it
  Credentials credentials;     // all empty: keychain.h looks for others
  bool force_path_style = true;
  Tls tls;  // of requests to the store and to dfdaemon

  std::string cache_dir;
  uint64_t cache_max_bytes = 1073741824;
  uint64_t whole_object_below = 67108864;
  uint64_t read_ahead = 0;  // 0: no ranges
  int sign_expires_s = 900;
  bool require_p2p = true;
  bool fallback_to_source = false;
  bool tag_with_etag = true;  // task_version
  Verify verify = Verify::kAll;
  int max_connections = 32;
  int connect_timeout_s = 5;
  int stall_timeout_s = 120;
  double retry_deadline_s = 30;
  int list_max_pages = 10000;
  double metadata_ttl_s = 0;
  uint64_t copy_part_bytes = uint64_t{5} << 30;
};

// Throws Failure: NOT_FOUND where no file is named or there is none, INVALID_ARGUMENT, with the
// key, where it says what cannot be.
Config ReadConfig();

// The same from the text of such a file.
Config ParseConfig(const std::string& text);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_
