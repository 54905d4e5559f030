// What a user configures of Dragonfly, beside what objectstore/config.h has, in the same file.
// README.md lists the keys.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_CONFIG_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_CONFIG_H_

#include <map>
#include <string>
#include <vector>

#include "objectstore/config.h"

namespace dragonfly {

struct Config {
  objectstore::Config store;

  std::string addr;  // of dfdaemon's HTTP proxy
  std::map<std::string, std::string> header;
  std::vector<std::string> filter = {
      "X-Amz-Algorithm",     "X-Amz-Credential", "X-Amz-Date",          "X-Amz-Expires",
      "X-Amz-SignedHeaders", "X-Amz-Signature",  "X-Amz-Security-Token"};
  std::string proxy_endpoint;  // the store, as dfdaemon reaches it
  int sign_expires_s = 900;
  bool require_p2p = true;
  bool fallback_to_source = false;
  bool tag_with_etag = true;  // task_version
};

// Throws as those of objectstore/config.h do.
Config ReadConfig(const objectstore::Plugin& plugin);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_CONFIG_H_
