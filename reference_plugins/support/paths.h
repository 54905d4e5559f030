// Names: URIs, and paths cleaned by the letters.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_PATHS_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_PATHS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace support {

// The parts of a name. One without a scheme is all path.
struct Uri {
  std::string_view prefix;  // "scheme://host", or nothing
  std::string_view path;    // what follows
};

Uri ParseUri(std::string_view name);

// The components of a path, without empty ones and ".", each ".." taken together with the component
// before it.
std::vector<std::string_view> Components(std::string_view path);

// `path` in its shortest spelling: "." where nothing is left, no slash at the end but in "/".
std::string CleanPath(std::string_view path);

// The directory that holds `path`, for use by the kernel: "." or "/" where no other is named.
std::string ParentOf(const std::string& path);

// The op. What a user writes becomes what every other op gets.
char* TranslateName(const TF_Filesystem* filesystem, const char* uri) noexcept;

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_PATHS_H_
