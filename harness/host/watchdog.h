// Ends the process when the client is gone, even while the plugin hangs.
#ifndef TFFS_HOST_WATCHDOG_H_
#define TFFS_HOST_WATCHDOG_H_

namespace tffs {

// Starts a thread that watches the descriptor requests come from, and hands on what comes out of
// `printed`, which is standard output.
void StartWatchdog(int wire_in, int printed);

}  // namespace tffs

#endif  // TFFS_HOST_WATCHDOG_H_
