// The plugins that DRAGONFLY_PLUGIN_PATH names, and their registration.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_PLUGINS_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_PLUGINS_H_

namespace loader {

// Whether `library`, or what it depends on, is TensorFlow: has what registers a plugin.
bool IsTensorFlow(void* library);

// Registers all plugins with the TensorFlow in `library`, the first time; a second thread waits for
// the first. What goes wrong is a line on the standard error each. Never call it where the dynamic
// loader's lock may be held: a plugin may start a thread that opens a library.
void RegisterOnce(void* library);

// How many plugins are registered; -1 before RegisterOnce.
int Registered();

}  // namespace loader

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_PLUGINS_H_
