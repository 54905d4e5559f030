// The ops with two paths. Neither leaves half a target behind.

#ifndef TFFS_REFERENCE_PLUGINS_POSIX_RENAME_COPY_H_
#define TFFS_REFERENCE_PLUGINS_POSIX_RENAME_COPY_H_

#include "tf_filesystem_plugin.h"

namespace posix {

void RenameFile(const TF_Filesystem* filesystem, const char* source, const char* target,
                TF_Status* status) noexcept;
void CopyFile(const TF_Filesystem* filesystem, const char* source, const char* target,
              TF_Status* status) noexcept;
// Makes what `from` holds behind its position the file `target`, with the mode of a new file where
// there was none. It outlives a power cut: what it came from may be deleted.
void BringFile(int from, const char* target, TF_Status* status) noexcept;

}  // namespace posix

#endif  // TFFS_REFERENCE_PLUGINS_POSIX_RENAME_COPY_H_
