// Local files, for the functions of env.h.
#ifndef TFFS_RUNTIME_LOCAL_FILES_H_
#define TFFS_RUNTIME_LOCAL_FILES_H_

#include <optional>
#include <string>

#include "tf_filesystem_plugin.h"

namespace tffs {

// The local path that `name` stands for. A URI of any other scheme than `file` gives nothing and
// UNIMPLEMENTED: the runtime knows no plugin.
std::optional<std::string> LocalPath(const char* name, TF_Status* status);

// OK, or the code that belongs to errno, with the path.
void SetOutcome(bool succeeded, const std::string& path, TF_Status* status);

}  // namespace tffs

#endif  // TFFS_RUNTIME_LOCAL_FILES_H_
