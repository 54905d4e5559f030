// The plugin whose ops a binary of tests has: table.cc of each says which.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TABLE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TABLE_H_

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tf_filesystem_plugin.h"

namespace unit {

struct Table {
  std::string scheme;
  const char* variable;  // names the plugin's configuration
  TF_FilesystemOps ops;
};

Table TableUnderTest();

// The configuration that TFFS_UNIT_CONFIG names, whose store has a bucket called `bucket`.
inline const char* ConfigPath() {
  const char* path = std::getenv("TFFS_UNIT_CONFIG");
  if (path == nullptr) throw std::runtime_error("TFFS_UNIT_CONFIG is not set");
  return path;
}

// The same, and the plugin is told of it.
inline TF_FilesystemOps Configured() {
  const Table table = TableUnderTest();
  setenv(table.variable, ConfigPath(), 1);
  return table.ops;
}

}  // namespace unit

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TABLE_H_
