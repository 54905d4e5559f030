// libnull.so: the smallest plugin that registers. Nothing but init and cleanup, which are required.

#include "posix/tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  support::Tables tables = posix::AllTables();
  const TF_FilesystemOps right = tables.filesystem;
  tables.filesystem = {};
  tables.filesystem.init = right.init;
  tables.filesystem.cleanup = right.cleanup;
  support::Register("null", tables, info);

  // No op makes a file or a region, so there are no tables for them.
  if (info->ops == nullptr) return;
  TF_FilesystemPluginOps& entry = info->ops[0];
  info->plugin_memory_free(entry.random_access_file_ops);
  info->plugin_memory_free(entry.writable_file_ops);
  info->plugin_memory_free(entry.read_only_memory_region_ops);
  entry.random_access_file_ops = nullptr;
  entry.writable_file_ops = nullptr;
  entry.read_only_memory_region_ops = nullptr;
}
