// What comes out of an op instead of an answer.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "crash.h"
#include "host.h"

namespace tffs {

Reply Host::PerformGuarded(std::string_view command, Request& request) {
  Reply reply = PerformCaught(command, request);
  // A plugin that forks and lets both processes return would answer twice from now on.
  if (getpid() != process_) {
    SayLast("came back twice");
    if (getppid() == process_) kill(process_, SIGKILL);
    _exit(EXIT_FAILURE);
  }
  if (!in_.IsThere() || !out_.IsThere()) {
    SayLast("lost its wire");
    _exit(EXIT_FAILURE);
  }
  return reply;
}

Reply Host::PerformCaught(std::string_view command, Request& request) {
  try {
    return Perform(command, request);
  } catch (const BadRequest& error) {
    return Reply("bad").Bytes(error.what());
  } catch (const std::exception& error) {
    return Reply("lacks").Bytes(error.what());
  } catch (const Absent&) {
    return Reply("absent");
  } catch (const Skipped&) {
    return Reply("skipped");
  } catch (const Thrown& thrown) {
    return Reply("threw").Bytes(thrown.type).Bytes(thrown.what);
  }
}

}  // namespace tffs
