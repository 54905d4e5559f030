/* The loader's one function, for programs that are linked to it and want to say when.
 *
 * None needs to: the loader registers the plugins by itself, before main() where the program is
 * linked to TensorFlow, and otherwise when TensorFlow is opened. */

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_LOADER_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_LOADER_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the plugins that DRAGONFLY_PLUGIN_PATH names, unless that was done before.
 *
 * Returns how many of them are registered, or -1 where TensorFlow is not there yet. */
int TFFS_RegisterPlugins(void);

#ifdef __cplusplus
}
#endif

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_LOADER_H_
