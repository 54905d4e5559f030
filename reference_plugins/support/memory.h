// Memory that changes hands. What TensorFlow will free must come from plugin_memory_allocate, and
// nothing else may.

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_MEMORY_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_MEMORY_H_

#include <cstddef>
#include <string>
#include <vector>

namespace support {

// plugin_memory_allocate and plugin_memory_free.
void* Allocate(size_t size) noexcept;
void Free(void* block) noexcept;

// A copy of `text` for TensorFlow, or NULL without memory.
char* CopyString(const std::string& text) noexcept;

// Puts copies of `names` into an array for TensorFlow and gives their number. Throws
// std::bad_alloc, and leaves nothing behind then. No names make no array.
int CopyNames(const std::vector<std::string>& names, char*** entries);

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_MEMORY_H_
