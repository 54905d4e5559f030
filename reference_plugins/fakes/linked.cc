// The posix plugin, linked in ways that a plugin should not be linked; CMakeLists.txt says which.
// What it does is right.

#include "posix/tables.h"

#ifdef TFFS_STATIC_TLS
// Its place in the memory of each thread is fixed when the process starts, and there is little
// room.
__attribute__((tls_model("initial-exec"))) thread_local int registrations = 0;
#endif

#ifdef TFFS_TEXT_RELOCATIONS
// An address within the code, which the loader has to write into pages that are shared and not
// writable.
asm(".text\n.balign 8\ntffs_address: .quad tffs_address\n");
#endif

#ifdef TFFS_EXPORTS
// A name as any other library could have it.
extern "C" __attribute__((visibility("default"))) int Initialize() { return 0; }
#endif

#ifdef TFFS_EXPORTS
extern "C" __attribute__((visibility("default"))) void TF_InitPlugin(TF_FilesystemPluginInfo*);
#endif

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
#ifdef TFFS_STATIC_TLS
  ++registrations;
#endif
#ifdef TFFS_VERBOSE
  TF_VLog(1, "registering");
#endif
  support::Register(TFFS_SCHEME, posix::AllTables(), info);
}
