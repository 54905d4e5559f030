// The state of one filesystem. Nothing is global: init makes one, and its files keep it alive.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "cache.h"
#include "config.h"
#include "dragonfly.h"
#include "http.h"
#include "keychain.h"
#include "metadata.h"
#include "names.h"
#include "objects.h"
#include "ranges.h"
#include "readable.h"
#include "s3.h"
#include "streams.h"
#include "support/forks.h"
#include "tree.h"

namespace dragonfly {

struct Filesystem {
  explicit Filesystem(Config configured) : config(std::move(configured)) {}
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;

  // The whole content of a version of an object, fetched where it is not at hand. Throws Failure.
  Content Fetch(const Name& name, const Version& version);

  // The same to be read: a large object comes while it is read, or in parts, as the configuration
  // says. What it gives may not outlive the filesystem.
  std::shared_ptr<const Readable> Open(const Name& name, const Version& version);

  // A temporary file, for which what is kept gives way where there is no room.
  std::shared_ptr<Spool> NewSpool() {
    return std::make_shared<Spool>(config.cache_dir, [this] { return cache.Evict(); });
  }

  const Config config;
  Http http{config.addr, config.connect_timeout_s, config.stall_timeout_s, config.max_connections,
            config.tls};
  Keychain keychain{OpenKeychain(config, Environment::OfProcess())};
  const S3 s3{config, http, keychain};
  Metadata metadata{config.metadata_ttl_s};
  const Objects objects{s3, metadata, config.copy_part_bytes};
  const Tree tree{objects, config.list_max_pages};
  const Dragonfly dragonfly{config, s3, http};
  Cache cache{config.cache_max_bytes};
  // A large object has its connection for long: half of them are left to others.
  Streams streams{std::clamp(config.max_connections / 2, 1, 64)};
  std::mutex opening;  // guards what files to read are opened with, for moments
  const support::ForkGuard forks{opening, [] {}};

 private:
  // What Dragonfly::Get does; what is remembered of an object that changed is forgotten.
  void GetInto(const Name& name, const Version& version, Sink* into);

  // Waits for all of it, which is compared before anybody sees a byte.
  Content FetchAtOnce(const Name& name, const Version& version);
  Content FetchPart(const Name& name, const Version& version, const Span& span);

  // NULL where it cannot grow.
  std::shared_ptr<const Growing> Stream(const Name& name, const Version& version);
};

inline std::shared_ptr<Filesystem> Get(const TF_Filesystem* filesystem) {
  return *static_cast<std::shared_ptr<Filesystem>*>(filesystem->plugin_filesystem);
}

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_
