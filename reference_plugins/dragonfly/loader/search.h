// dlopen on behalf of somebody else.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_SEARCH_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_SEARCH_H_

namespace loader {

// What dlopen(name, flags) gives to the code at `caller`.
//
// Where a library is looked for depends on who asks: on the DT_RPATH or DT_RUNPATH of the caller,
// and on its place where the name has $ORIGIN. The C library would take this library for the
// caller.
void* OpenFor(const void* caller, const char* name, int flags);

}  // namespace loader

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_LOADER_SEARCH_H_
