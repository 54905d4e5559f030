// The status code that belongs to an errno value.
#ifndef TFFS_RUNTIME_ERRNO_CODE_H_
#define TFFS_RUNTIME_ERRNO_CODE_H_

#include "tf_filesystem_plugin.h"

namespace tffs {

// TF_OK for 0, TF_UNKNOWN for values that have no code of their own (EIO, ELOOP, ...).
TF_Code CodeOfErrno(int error_code);

}  // namespace tffs

#endif  // TFFS_RUNTIME_ERRNO_CODE_H_
