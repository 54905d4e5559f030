// Trying again.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_RETRY_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_RETRY_H_

#include "answers.h"
#include "http.h"

namespace dragonfly {

// Waits before try number `next` (1 is the second one): longer each time, and never as long as
// others who failed at the same moment.
void Pause(int next);

// Gives what `send` gives: the response of the first try that nothing speaks against, or of the
// last of 1 + `retries`. A request that is not `idempotent` is tried again only where nothing was
// done.
template <typename Send>
Response Persistently(int retries, bool idempotent, Send send) {
  for (int tried = 0;; ++tried) {
    try {
      Response response = send();
      const bool again = idempotent ? MayPass(response) : DidNothing(response);
      if (!again || tried == retries) return response;
    } catch (const Disconnected& failure) {
      if (!idempotent || !failure.may_pass() || tried == retries) throw;
    }
    Pause(tried + 1);
  }
}

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_RETRY_H_
