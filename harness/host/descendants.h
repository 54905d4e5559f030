// The processes that a plugin starts: what becomes an orphan is handed to the host, not to the
// machine, so that none is left behind.
#ifndef TFFS_HOST_DESCENDANTS_H_
#define TFFS_HOST_DESCENDANTS_H_

#include <cstdint>

namespace tffs {

// From now on orphans of this process's descendants are its children.
void AdoptOrphans();

// The processes whose parent is this one, those that have ended and were not waited for included.
int64_t Children();

// Ends all descendants, also those with a session of their own. May be called where a signal is
// handled.
void EndDescendants();

}  // namespace tffs

#endif  // TFFS_HOST_DESCENDANTS_H_
