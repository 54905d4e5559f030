// The state of one filesystem. Nothing is global: init makes one, and its files keep it alive.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "cache.h"
#include "config.h"
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
#include "transport.h"
#include "tree.h"

namespace objectstore {

struct Filesystem {
  // Makes the way by which content comes. What it gets outlives that.
  using MakeTransport = std::function<std::unique_ptr<const Transport>(const S3& s3, Http& http)>;

  // Some requests of the transport may go through `proxy`.
  Filesystem(Config configured, Proxy proxy, const MakeTransport& make)
      : config(std::move(configured)),
        http(config.plugin, std::move(proxy), config.connect_timeout_s, config.stall_timeout_s,
             config.max_connections, config.tls),
        transport(make(s3, http)) {}
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;

  // The whole content of a version of an object, fetched where it is not at hand. Throws Failure.
  Content Fetch(const Name& name, const Version& version);

  // The same to be read: a large object comes while it is read, or in parts, as the configuration
  // says. What it gives may not outlive the filesystem.
  std::shared_ptr<const Readable> Open(const Name& name, const Version& version);

  // A temporary file, for which what is kept gives way where there is no room.
  std::shared_ptr<Spool> NewSpool();

  const Config config;
  Http http;
  Keychain keychain{OpenKeychain(config, Environment::OfProcess())};
  const S3 s3{config, http, keychain};
  Metadata metadata{config.metadata_ttl_s};
  const Objects objects{s3, metadata, config.copy_part_bytes};
  const Tree tree{objects, config.list_max_pages};
  const std::unique_ptr<const Transport> transport;
  Cache cache{config.cache_max_bytes};
  // A large object has its connection for long: half of them are left to others.
  Streams streams{std::clamp(config.max_connections / 2, 1, 64)};
  std::mutex opening;  // guards what files to read are opened with, for moments
  const support::ForkGuard forks{opening, [] {}};

 private:
  // What the bytes of this version are compared with, as far as they are to be.
  Checksum Expected(const Version& version) const;

  // What the transport does; what is remembered of an object that changed is forgotten.
  void GetInto(const Name& name, const Version& version, Sink* into);

  // Waits for all of it, which is compared before anybody sees a byte.
  Content FetchAtOnce(const Name& name, const Version& version);
  Content FetchPart(const Name& name, const Version& version, const Span& span);

  // NULL where it cannot grow.
  std::shared_ptr<const Growing> Stream(const Name& name, const Version& version);
};

// What init of a plugin does: `filesystem` is what `make` makes.
void Begin(TF_Filesystem* filesystem, TF_Status* status, const Plugin& plugin,
           const std::function<std::shared_ptr<Filesystem>()>& make) noexcept;

inline std::shared_ptr<Filesystem> Get(const TF_Filesystem* filesystem) {
  return *static_cast<std::shared_ptr<Filesystem>*>(filesystem->plugin_filesystem);
}

// As names.h has it.
inline const char* LocalPath(const TF_Filesystem* filesystem, const char* path) {
  return LocalPath(Get(filesystem)->config.plugin, path);
}

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FILESYSTEM_H_
