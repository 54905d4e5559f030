// How the bytes of objects come: from the store, or by a way that a plugin adds.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TRANSPORT_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TRANSPORT_H_

#include "failure.h"
#include "metadata.h"
#include "s3.h"
#include "sink.h"

namespace objectstore {

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

// Another one who is asked may have the right bytes.
class Wrong : public Failure {
 public:
  Wrong(const char* who, const char* fault)
      : Failure(TF_DATA_LOSS, std::string(who) + ": " + fault) {}
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Fills `into` with what it lacks of this version, which has an ETag and a byte at least; what
  // breaks goes on where it broke. Throws Changed, Altered, and Failure; what is in an `into`
  // without an audience is worth nothing then.
  virtual void Get(const Name& name, const Version& version, Sink* into) const = 0;
};

// From the store itself.
class FromStore : public Transport {
 public:
  explicit FromStore(const S3& s3) : s3_(s3) {}  // which outlives it

  void Get(const Name& name, const Version& version, Sink* into) const override;

 private:
  const S3& s3_;
};

// These for every transport. What `who` answers has to be of this version: throws Wrong.
void DemandVersion(const char* who, const Response& response, const Version& version);

// The last word on a request to which `who` gave what is in `sink`: throws Altered, or Wrong, and
// then the sink is empty.
void DemandAll(const char* who, Sink* sink);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TRANSPORT_H_
