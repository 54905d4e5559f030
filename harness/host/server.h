// One process that forks hosts: what a start costs is paid once.
#ifndef TFFS_HOST_SERVER_H_
#define TFFS_HOST_SERVER_H_

#include <optional>

namespace tffs {

// The ends of the wire and of standard error that a client hands to a new host.
struct Ends {
  int in;
  int out;
  int error;
};

// Serves the socket that is standard input, as docs/wire.md says. Returns, in a fresh child of the
// client, with what the client sent for it; in the server itself with nothing, once the client is
// gone or where this process must not be forked.
std::optional<Ends> Serve();

}  // namespace tffs

#endif  // TFFS_HOST_SERVER_H_
