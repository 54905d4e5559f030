// What a plugin that is built on this calls itself: its entry point says so.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PLUGIN_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PLUGIN_H_

namespace objectstore {

struct Plugin {
  const char* scheme = "";    // of its URIs; its requests and its lines in the log have it, too
  const char* variable = "";  // of the environment: names the file with the configuration
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PLUGIN_H_
