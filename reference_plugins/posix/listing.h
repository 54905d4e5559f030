// What a directory holds, and what a pattern matches.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_LISTING_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_LISTING_H_

#include <string>
#include <vector>

#include "support/descriptor.h"
#include "tf_filesystem_plugin.h"

namespace posix {

struct Entry {
  std::string name;
  unsigned char type;  // a DT_ constant of readdir(3)
};

// Adds what `directory` holds, but "." and "..", to `entries`. Gives 0 or an errno value.
// Throws std::bad_alloc.
int List(support::Descriptor directory, std::vector<Entry>* entries);

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) noexcept;
int GetMatchingPaths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                     TF_Status* status) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_LISTING_H_
