// One process that runs hosts one after the other for a client that reaches it through a command
// (docker exec, ssh, valgrind): it tells how each host ended, which the command's own end does not.
#ifndef TFFS_HOST_RELAY_H_
#define TFFS_HOST_RELAY_H_

#include <optional>
#include <string>

#include "server.h"

namespace tffs {

// The command that turns a process into a relay, and begins each of its hosts.
constexpr const char* kStart = "start";

// Relays between the client, at `in` and `out`, and one host at a time, as docs/wire.md says;
// `received` was read from `in` before. Returns in each host with the ends of its wire, and in the
// relay itself with nothing, once the client is gone.
std::optional<Ends> Relay(int in, int out, std::string received);

}  // namespace tffs

#endif  // TFFS_HOST_RELAY_H_
