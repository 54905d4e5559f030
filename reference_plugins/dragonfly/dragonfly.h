// Getting an object through Dragonfly: a GET that anybody may send, handed to dfdaemon's HTTP
// proxy.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_

#include <atomic>

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

// Bytes that somebody read already do not add up to the object's checksum.
class Altered : public Failure {
 public:
  Altered() : Failure(TF_DATA_LOSS, "what was read of the object is not what the store has") {}
};

class Dragonfly {
 public:
  // All outlive it.
  Dragonfly(const Config& config, const S3& s3, Http& http)
      : config_(config), s3_(s3), http_(http) {}

  // What the bytes of this version are compared with, as far as they are to be.
  Checksum Expected(const Version& version) const;

  // Fills `into` with what it lacks of this version; what breaks goes on where it broke. Throws
  // Changed, Altered, and Failure; what is in an `into` without an audience is worth nothing then.
  void Get(const Name& name, const Version& version, Sink* into) const;

 private:
  void Proxied(const Name& name, const Version& version, Sink* into) const;
  void FromStore(const Name& name, const Version& version, Sink* into) const;

  const Config& config_;
  const S3& s3_;
  Http& http_;
  mutable std::atomic<bool> has_served_{false};
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_DRAGONFLY_H_
