// The state of one filesystem. Nothing is global: init makes one, and its files keep it alive.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_

#include <memory>
#include <utility>

#include "cache.h"
#include "config.h"
#include "dragonfly.h"
#include "http.h"
#include "keychain.h"
#include "names.h"
#include "objects.h"
#include "s3.h"
#include "tree.h"

namespace dragonfly {

struct Filesystem {
  explicit Filesystem(Config configured) : config(std::move(configured)) {}
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;

  // The whole content of a version of an object, fetched where it is not at hand. Throws Failure.
  Content Fetch(const Name& name, const Version& version);

  const Config config;
  Http http{config.addr, config.connect_timeout_s, config.stall_timeout_s, config.tls};
  Keychain keychain{OpenKeychain(config, Environment::OfProcess())};
  const S3 s3{config, http, keychain};
  const Objects objects{s3};
  const Tree tree{objects, config.list_max_pages};
  const Dragonfly dragonfly{config, s3, http};
  Cache cache{config.cache_max_bytes};
};

inline std::shared_ptr<Filesystem> Get(const TF_Filesystem* filesystem) {
  return *static_cast<std::shared_ptr<Filesystem>*>(filesystem->plugin_filesystem);
}

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_FILESYSTEM_H_
