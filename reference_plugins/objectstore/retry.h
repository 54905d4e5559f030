// Trying again.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RETRY_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RETRY_H_

#include "answers.h"
#include "http.h"
#include "patience.h"

namespace objectstore {

// Gives what `send` gives, which asks `who` for `plugin`: the response of the first try that
// nothing speaks against, or of the last one when the op's `budget` of seconds is used up. A
// request that is not `idempotent` is tried again only where nothing was done.
template <typename Send>
Response Persistently(const Plugin& plugin, const char* who, double budget, bool idempotent,
                      Send send) {
  for (int next = 1;; ++next) {
    try {
      Response response = send();
      const bool again = idempotent ? MayPass(response) : DidNothing(response);
      if (!again || !Wait(plugin, next, budget, RetryAfter(response), Told(who, response)))
        return response;
    } catch (const Disconnected& failure) {
      const bool again = failure.may_pass() && (idempotent || failure.did_nothing());
      if (!again || !Wait(plugin, next, budget, 0, failure.what())) throw;
    }
  }
}

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_RETRY_H_
