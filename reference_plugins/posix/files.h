// The ops of the filesystem table that make an object: a file to read, a file to write, a region.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_FILES_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_FILES_H_

#include <sys/stat.h>

#include "support/descriptor.h"
#include "tf_filesystem_plugin.h"

namespace posix {

// Opens a file with these flags of open(2). One that is not open has set the status: neither a
// directory nor a pipe nor a socket is a file.
support::Descriptor OpenFile(const char* path, int flags, struct stat* facts, TF_Status* status);

// On an error the object stays as it came: TensorFlow drops it without a cleanup.
void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) noexcept;
void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) noexcept;
void NewAppendableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) noexcept;
void NewMemoryRegion(const TF_Filesystem* filesystem, const char* path,
                     TF_ReadOnlyMemoryRegion* region, TF_Status* status) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_FILES_H_
