// What AWS's files and services say of credentials. Texts go in, keys come out: nothing here opens
// a file or talks to anyone. credential_sources.h does.
//
// Source: "AWS SDKs and Tools Reference Guide", and the references of STS and of EC2's metadata.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIALS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIALS_H_

#include <map>
#include <optional>
#include <string>

#include "sigv4.h"

namespace objectstore {

// Identity, and how long they are good for.
struct Grant {
  Credentials keys;
  double expires = 0;  // seconds since the epoch; 0: never
};

// Names and values of the environment, as far as they are of interest here.
class Environment {
 public:
  Environment(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  // HOME, and what begins with AWS_. It is copied, for another thread may change the process's.
  static Environment OfProcess();

  // An empty value is none.
  std::string Get(const std::string& name, const std::string& otherwise = "") const;
  bool Has(const std::string& name) const { return !Get(name).empty(); }

 private:
  std::map<std::string, std::string> values_;
};

// The sections of a shared file by name, each with its settings: names in lower case.
using Settings = std::map<std::string, std::string>;
std::map<std::string, Settings> ReadSections(const std::string& text);

// The keys of a profile, or nothing. Throws Failure where it has a part of them.
std::optional<Credentials> CredentialsIn(const Settings& profile);

// The answer of a container's or an instance's service. Throws Failure (UNAUTHENTICATED), as
// ReadRole does, where it has no keys; the text has nothing of the answer but an error code.
Grant ReadGrant(const std::string& json);

// The answer of AssumeRoleWithWebIdentity.
Grant ReadRole(const std::string& xml);

// The error code of an answer of STS, or nothing.
std::string StsErrorCode(const std::string& xml);

// Whether a service at this URL may be told a token: it is encrypted, on this machine, or, where
// the token is that of a container, one of those of ECS and EKS.
bool MayHaveToken(const std::string& url, bool of_container);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIALS_H_
