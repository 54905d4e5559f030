// One process that runs hosts one after the other for a client that reaches it through a command
// (docker exec, ssh, valgrind): it tells how each host ended, which the command's own end does not.
#ifndef TFFS_HOST_RELAY_H_
#define TFFS_HOST_RELAY_H_

#include <optional>

#include "server.h"
#include "wire.h"

namespace tffs {

// The command that turns a process into a relay, and the argument of the program that begins as
// one.
constexpr const char* kRelay = "relay";

// Sets the environment variables that the request holds: pairs of name and value. Where the C
// library reads one of them at the start of a program only, the program starts again, as a relay.
void TakeEnvironment(Request& request);

// Relays between the client, at `in` and `out`, and one host at a time, as docs/wire.md says.
// Returns in each host with the ends of its wire, and in the relay itself with nothing, once the
// client is gone.
std::optional<Ends> Relay(int in, int out);

}  // namespace tffs

#endif  // TFFS_HOST_RELAY_H_
