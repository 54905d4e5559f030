// Where AWS's credentials are looked for, in the order that AWS's own tools have.
//
// A source that is not set up has nothing to give, and the next one is asked. One that is set up
// and gives nothing is a failure: whoever named a role does not want to go on as somebody else.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIAL_SOURCES_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIAL_SOURCES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "credentials.h"
#include "http.h"

namespace objectstore {

// Sends a request to a service that gives credentials. Throws Disconnected.
using Ask = std::function<Response(const Request&)>;

// Keys, or why there are none.
struct Offer {
  std::optional<Grant> grant;
  std::string why_not;
};

struct Source {
  // Throws Disconnected where it may fare better in a while, and Failure; the texts say which
  // source it is, and hold no secrets.
  std::function<Offer()> fetch;
  bool renews = false;  // whether it may give others the next time
};

// All but the configuration, the first to be asked in front. `region` is for STS, which is told
// that `plugin` asks.
std::vector<Source> Sources(const Plugin& plugin, const Environment& environment,
                            const std::string& region, const Ask& ask);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CREDENTIAL_SOURCES_H_
