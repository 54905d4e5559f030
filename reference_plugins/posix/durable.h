// What outlives a power cut.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_DURABLE_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_DURABLE_H_

#include <string>

#include "support/descriptor.h"

namespace posix {

// The bytes of a file, or the entries of a directory. Gives 0 or an errno value.
int Persist(const support::Descriptor& descriptor);

// The name of a new file at `path`: the entry of its directory, and those of the directories above
// it, which may be new as well. Gives 0 or an errno value. Throws std::bad_alloc.
int PersistName(const support::Descriptor& file, const std::string& path);

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_DURABLE_H_
