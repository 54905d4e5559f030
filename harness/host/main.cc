// The host process. It speaks docs/wire.md on its standard input and output.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "crash.h"
#include "descendants.h"
#include "environment.h"
#include "host.h"
#include "limits.h"
#include "relay.h"
#include "runtime.h"
#include "server.h"
#include "standard_output.h"
#include "watchdog.h"
#include "wire.h"

namespace tffs {
namespace {

// High enough that a plugin which counts its descriptors from below meets none of ours.
constexpr int kWireDescriptor = 240;

// A host needs fewer, but a plugin that is given a hundred files to open does not.
constexpr rlim_t kFewestDescriptors = 256;

void CheckEnvironment() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kFewestDescriptors) return;
  EndForEnvironment("a process may open no more than " + std::to_string(limit.rlim_cur) +
                    " descriptors here, and a host needs " + std::to_string(kFewestDescriptors) +
                    ": raise `ulimit -n`");
}

int Moved(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kWireDescriptor);
  if (descriptor > STDERR_FILENO) close(descriptor);
  return moved;
}

// The wire moves out of the plugin's reach: it finds an empty standard input, and a standard output
// that goes on to standard error.
Ends MoveWire(const Ends& given) {
  const Ends moved = {Moved(given.in), Moved(given.out), STDERR_FILENO};
  if (given.error != STDERR_FILENO) {
    dup2(given.error, STDERR_FILENO);
    close(given.error);
  }
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (moved.in < 0 || moved.out < 0 || empty < 0 || dup2(empty, STDIN_FILENO) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    EndForEnvironment(std::string("the wire cannot be set up: ") + std::strerror(errno));
  if (empty != STDIN_FILENO) close(empty);
  return moved;
}

// Ends the process as a request of `quit` says: where it says nothing, by a return from main.
int Quit(Request& request) {
  if (request.AtEnd()) return EXIT_SUCCESS;
  running_op = "exit";
  const auto code = static_cast<int>(request.TakeInteger());
  if (request.TakeBytes() == "quick_exit") std::quick_exit(code);
  std::exit(code);
}

int Perform(const Ends& ends, Wire& wire) {
  const int printed = TakeStandardOutput(kWireDescriptor);
  if (printed < 0)
    EndForEnvironment(std::string("standard output cannot be taken: ") + std::strerror(errno));
  try {
    StartWatchdog(ends.in, printed);
  } catch (const std::system_error& error) {
    EndForEnvironment(std::string("a thread cannot be started: ") + error.what());
  }
  AdoptOrphans();
  // They come last, for what is registered later is called earlier.
  for (auto* last : {EndDescendants, HandOnOutput, AwaitBusyThreads}) {
    std::atexit(last);
    std::at_quick_exit(last);
  }
  Host host(ends.in, ends.out);
  std::string_view body;
  while (wire.Receive(&body)) {
    Request request(body);
    const std::string command(request.TakeCommand());
    if (command == "quit") return Quit(request);
    if (!wire.Send(host.PerformGuarded(command, request))) break;
  }
  // The client left; destructors of the plugin are not its concern.
  _exit(EXIT_SUCCESS);
}

// What a process does that was forked with ends of its own, if any.
int PerformAt(const std::optional<Ends>& given) {
  if (!given) _exit(EXIT_SUCCESS);
  const Ends ends = MoveWire(*given);
  Wire wire(ends.in, ends.out);
  return Perform(ends, wire);
}

// What takes the environment of the hosts, which a relay is told first.
void Begin() {
  OpenRuntime();
  ReportCrashes();
  IgnoreFileSizeSignal();
}

int PerformServed() {
  Begin();
  return PerformAt(Serve());
}

int PerformRelay() {
  Begin();
  const Ends ends = MoveWire({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  return PerformAt(Relay(ends.in, ends.out));
}

// A host, or a relay of hosts where the first request asks for that.
int PerformAlone() {
  Wire first(STDIN_FILENO, STDOUT_FILENO);
  std::string_view body;
  if (!first.Receive(&body)) return EXIT_SUCCESS;
  Request request(body);
  if (request.TakeCommand() == kRelay) {
    TakeEnvironment(request);
    return PerformRelay();
  }
  Begin();
  first.PutBack(body);
  const Ends ends = MoveWire({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  Wire wire(ends.in, ends.out, first.Unread());
  return Perform(ends, wire);
}

int Main(int argc, char** argv) {
  const std::string_view how = argc == 2 ? argv[1] : "";
  const bool known = argc == 1 || how == "serve" || how == kRelay;
  if (!known || isatty(STDIN_FILENO) != 0) {
    std::fputs(
        "tffs-host performs filesystem ops of one plugin for a client that speaks to its standard "
        "input.\n"
        "It is started by the suite: pytest --plugin=...\n",
        stderr);
    return 2;
  }
  CheckEnvironment();
  return how == "serve" ? PerformServed() : how == kRelay ? PerformRelay() : PerformAlone();
}

}  // namespace
}  // namespace tffs

int main(int argc, char** argv) {
  try {
    return tffs::Main(argc, argv);
  } catch (const tffs::BadRequest& error) {
    tffs::EndForEnvironment(std::string("a request is damaged: ") + error.what());
  }
}
