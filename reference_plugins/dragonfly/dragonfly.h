// Getting an object through Dragonfly: a GET that anybody may send, handed to dfdaemon's HTTP
// proxy.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_

#include "config.h"
#include "http.h"
#include "objects.h"
#include "s3.h"
#include "sink.h"
#include "spool.h"

namespace dragonfly {

// The object is not what it was when it was asked for.
class Changed : public Failure {
 public:
  Changed() : Failure(TF_ABORTED, "the object is changed while it is read") {}
};

class Dragonfly {
 public:
  // All outlive it.
  Dragonfly(const Config& config, const S3& s3, Http& http)
      : config_(config), s3_(s3), http_(http) {}

  // Fills `into` with this version, every byte of it. Throws Changed, and Failure; what is in
  // `into` is worth nothing then.
  void Get(const Name& name, const Version& version, Spool* into) const;

 private:
  Sink SinkFor(const Version& version, Spool* into) const;
  void Proxied(const Name& name, const Version& version, Spool* into) const;
  void FromStore(const Name& name, const Version& version, Spool* into) const;

  const Config& config_;
  const S3& s3_;
  Http& http_;
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
