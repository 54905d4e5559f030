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

inline std::string PathOf(const TF_WritableFile* file) {
  return PathsOfWriters().With(file->plugin_file, [](std::string& mine) { return mine; });
}

template <auto Entry>
void OpensNoted(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                TF_Status* status) {
  (Real().filesystem.*Entry)(filesystem, path, file, status);
  if (TF_GetCode(status) == TF_OK)
    PathsOfWriters().With(file->plugin_file,
                          [&](std::string& mine) { return (mine = path).size(); });
}

inline void ForgetsNoted(TF_WritableFile* file) {
  PathsOfWriters().Forget(file->plugin_file);
  Real().writable_file.cleanup(file);
}

// Worked in besides, by faults that ask for the path.
inline void NotePaths(support::Tables& t) {
  t.filesystem.new_writable_file = OpensNoted<&TF_FilesystemOps::new_writable_file>;
  t.filesystem.new_appendable_file = OpensNoted<&TF_FilesystemOps::new_appendable_file>;
  t.writable_file.cleanup = ForgetsNoted;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_WRITERS_H_
