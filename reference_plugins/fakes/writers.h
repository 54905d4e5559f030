// The path of each file that is open for writing, for faults of append, flush and close.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_

#include <string>

#include "faults.h"

namespace fakes {

inline PerObject<std::string> paths_of_writers;

inline std::string PathOf(Writer file) { return paths_of_writers.Of(file->plugin_file); }

// Worked in besides, by faults that ask for the path.
inline void NotePaths(support::Tables& t) {
  t.filesystem.new_writable_file = Notes<&Ops::new_writable_file, paths_of_writers>;
  t.filesystem.new_appendable_file = Notes<&Ops::new_appendable_file, paths_of_writers>;
  t.writable_file.cleanup = Forgets<paths_of_writers>;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_
