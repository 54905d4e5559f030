// Getting an object through Dragonfly: a GET that anybody may send, handed to dfdaemon's HTTP
// proxy.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_

#include <atomic>

#include "dragonfly/config.h"
#include "dragonfly/counters.h"
#include "objectstore/http.h"
#include "objectstore/s3.h"
#include "objectstore/transport.h"

namespace dragonfly {

constexpr char kDfdaemon[] = "dfdaemon";  // as messages have it

class Dragonfly : public objectstore::Transport {
 public:
  // `s3` and `http` outlive it.
  Dragonfly(Config config, const objectstore::S3& s3, objectstore::Http& http)
      : config_(std::move(config)), s3_(s3), http_(http), store_(s3) {}

  void Get(const objectstore::Name& name, const objectstore::Version& version,
           objectstore::Sink* into) const override;

 private:
  void Proxied(const objectstore::Name& name, const objectstore::Version& version,
               objectstore::Sink* into) const;

  const Config config_;
  const objectstore::S3& s3_;
  objectstore::Http& http_;
  const objectstore::FromStore store_;
  mutable std::atomic<bool> has_served_{false};
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
