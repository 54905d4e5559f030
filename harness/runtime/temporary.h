// Where files live that nobody wants to keep.
#ifndef TFFS_RUNTIME_TEMPORARY_H_
#define TFFS_RUNTIME_TEMPORARY_H_

#include <string>

namespace tffs {

// The directory for temporary files, with a slash at its end, as TensorFlow gives it.
std::string TemporaryDirectory();

}  // namespace tffs

#endif  // TFFS_RUNTIME_TEMPORARY_H_
