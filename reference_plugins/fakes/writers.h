// The path of each file that is open for writing, for faults of append, flush and close.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_

#include <string>

#include "faults.h"

namespace fakes {

inline PerObject<std::string>& PathsOfWriters() {
  static PerObject<std::string> paths;
  return paths;
}

inline std::string PathOf(Writer file) { return PathsOfWriters().Of(file->plugin_file); }

template <auto Entry>
void OpensNoted(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  (Right().*Entry)(filesystem, path, file, status);
  if (Worked(status)) PathsOfWriters().Set(file->plugin_file, path);
}

inline void ForgetsNoted(TF_WritableFile* file) {
  PathsOfWriters().Forget(file->plugin_file);
  Writing().cleanup(file);
}

// Worked in besides, by faults that ask for the path.
inline void NotePaths(support::Tables& t) {
  t.filesystem.new_writable_file = OpensNoted<&Ops::new_writable_file>;
  t.filesystem.new_appendable_file = OpensNoted<&Ops::new_appendable_file>;
  t.writable_file.cleanup = ForgetsNoted;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_
