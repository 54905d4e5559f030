#include "support/registration.h"

#include <new>

#include "support/memory.h"

namespace support {
namespace {

// TensorFlow frees every table, and the scheme, with plugin_memory_free once it has copied them. So
// each needs a block of its own from plugin_memory_allocate: never static storage, and never one
// block for two entries.
template <typename Table>
Table* OnHeap(const Table& table) {
  void* block = Allocate(sizeof(Table));
  return block == nullptr ? nullptr : new (block) Table(table);
}

}  // namespace

void Register(const char* scheme, const Tables& tables, TF_FilesystemPluginInfo* info) noexcept {
  info->plugin_memory_allocate = Allocate;
  info->plugin_memory_free = Free;

  TF_FilesystemPluginOps entry = {};
  entry.scheme = CopyString(scheme);

  // The versions are those of the header this was compiled with; the sizes tell TensorFlow how much
  // of a table it may copy.
  TF_SetFilesystemVersionMetadata(&entry);
  entry.filesystem_ops = OnHeap(tables.filesystem);
  entry.random_access_file_ops = OnHeap(tables.random_access_file);
  entry.writable_file_ops = OnHeap(tables.writable_file);
  entry.read_only_memory_region_ops = OnHeap(tables.memory_region);

  info->ops = OnHeap(entry);
  // A scheme or table that is NULL for want of memory is refused by TensorFlow, with a message; an
  // array that is NULL is not.
  info->num_schemes = info->ops == nullptr ? 0 : 1;
}

}  // namespace support
