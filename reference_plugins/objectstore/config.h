// What a user configures, read once, in init, from the JSON file that a variable of the environment
// names. README.md lists the keys.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_

#include <cstdint>
#include <functional>
#include <string>

#include "plugin.h"
#include "sigv4.h"
#include "tls.h"

namespace objectstore {

// Which bytes are compared with what the store says that they add up to.
enum class Verify { kAll, kChecksum, kNone };

struct Config {
  Plugin plugin;

  std::string bucket_name;  // the only bucket there is; empty: any
  std::string region = "us-east-1";
  std::string endpoint;     // as this process reaches the store
  Credentials credentials;  // all empty: keychain.h looks for others
  bool force_path_style = true;
  Tls tls;  // of requests to the store and to a proxy

  std::string cache_dir;
  uint64_t cache_max_bytes = 1073741824;
  uint64_t whole_object_below = 67108864;
  uint64_t read_ahead = 0;  // 0: no ranges
  Verify verify = Verify::kAll;
  int max_connections = 32;
  int connect_timeout_s = 5;
  int stall_timeout_s = 120;
  double retry_deadline_s = 30;
  int list_max_pages = 10000;
  double metadata_ttl_s = 0;
  uint64_t copy_part_bytes = uint64_t{5} << 30;
};

class Section;

// Reads keys of the same file that somebody else knows.
struct MoreKeys {
  std::function<void(Section* file)> in_file;
  std::function<void(Section* storage)> in_storage;  // of its object_storage
};

// What the text of such a file says. Throws Failure, INVALID_ARGUMENT, with the key, where it says
// what cannot be.
Config ParseConfig(const Plugin& plugin, const std::string& text, const MoreKeys& more = {});

// Gives the text of the file that `plugin.variable` names to `parse`, whose Failure is told with
// the path. Throws Failure, NOT_FOUND, where no file is named or there is none.
void ReadConfigFile(const Plugin& plugin,
                    const std::function<void(const std::string& text)>& parse);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONFIG_H_
