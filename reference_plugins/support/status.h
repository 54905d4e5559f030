// How an op answers. TensorFlow hands in a status; every path through an op sets it, the good one
// included.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_STATUS_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_STATUS_H_

#include <exception>
#include <new>

#include "tf_filesystem_plugin.h"

namespace support {

inline void SetOk(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

// The code that belongs to `error`, an errno value or 0, with a message that names `path`. Of 0
// TensorFlow 2.12 makes a status that is neither OK nor an error, and aborts.
inline void SetErrno(TF_Status* status, int error, const char* path) {
  if (error == 0) return SetOk(status);
  TF_SetStatusFromIOError(status, error, path);
}

// `code`, with the message "<path>; <reason>".
void SetError(TF_Status* status, TF_Code code, const char* path, const char* reason) noexcept;

// Performs `op` and gives what it gives. C++ exceptions must not leave a plugin, whose callers know
// nothing of them: an op that allocates runs in here, answers RESOURCE_EXHAUSTED when there is no
// memory, and gives `failed`.
template <typename Op, typename Result>
Result Guarded(TF_Status* status, const char* path, Result failed, Op op) noexcept {
  try {
    return op();
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    SetError(status, TF_INTERNAL, path, error.what());
  }
  return failed;
}

template <typename Op>
void Guarded(TF_Status* status, const char* path, Op op) noexcept {
  Guarded(status, path, 0, [&op] {
    op();
    return 0;
  });
}

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_STATUS_H_
