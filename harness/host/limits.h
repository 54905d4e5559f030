// Limits of the process that provoke errors in the plugin.
#ifndef TFFS_HOST_LIMITS_H_
#define TFFS_HOST_LIMITS_H_

namespace tffs {

// A write beyond the limit for the size of files fails instead of ending the process. Python, and
// with it TensorFlow in Python, starts like that.
void IgnoreFileSizeSignal();

}  // namespace tffs

#endif  // TFFS_HOST_LIMITS_H_
