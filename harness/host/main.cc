// The host process. It speaks docs/wire.md on its standard input and output.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "crash.h"
#include "host.h"
#include "limits.h"
#include "watchdog.h"
#include "wire.h"

namespace tffs {
namespace {

// High enough that a plugin which counts its descriptors from below meets none of ours.
constexpr int kWireDescriptor = 240;

// The wire moves out of the plugin's reach: it finds an empty standard input, and what it prints
// goes to standard error.
Wire MoveWire() {
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kWireDescriptor);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kWireDescriptor);
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || empty < 0 || dup2(empty, STDIN_FILENO) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("tffs-host: the wire cannot be set up");
    std::exit(EXIT_FAILURE);
  }
  close(empty);
  StartWatchdog(in);
  return Wire(in, out);
}

int Main(int argc) {
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::fputs(
        "tffs-host performs filesystem ops of one plugin for a client that speaks to its standard "
        "input.\n"
        "It is started by the suite: pytest --plugin=...\n",
        stderr);
    return 2;
  }
  Wire wire = MoveWire();
  ReportCrashes();
  IgnoreFileSizeSignal();
  Host host;
  std::string_view body;
  while (wire.Receive(&body)) {
    Request request(body);
    const std::string command(request.TakeBytes());
    if (command == "quit") return EXIT_SUCCESS;
    if (!wire.Send(host.PerformGuarded(command, request))) break;
  }
  // The client left; destructors of the plugin are not its concern.
  _exit(EXIT_SUCCESS);
}

}  // namespace
}  // namespace tffs

int main(int argc, char**) { return tffs::Main(argc); }
