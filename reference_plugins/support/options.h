// Options, as get_filesystem_configuration hands them over.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_OPTIONS_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_OPTIONS_H_

#include <vector>

#include "tf_filesystem_plugin.h"

namespace support {

// One that has exactly one value. A buffer is somebody else's.
struct Option {
  const char* name;
  const char* description;
  TF_Filesystem_Option_Type type;
  TF_Filesystem_Option_Value_Union value;
};

// Copies for the caller, who frees them block by block. Throws std::bad_alloc, and leaves nothing
// behind then.
TF_Filesystem_Option* CopyOptions(const std::vector<Option>& options);

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_OPTIONS_H_
