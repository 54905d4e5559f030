#include "limits.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "allocations.h"
#include "host.h"
#include "interrupts.h"

namespace tffs {

void IgnoreFileSizeSignal() { signal(SIGXFSZ, SIG_IGN); }

Reply Host::LimitFileSize(Request& request) {
  const int64_t bytes = request.TakeInteger();
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes < 0 ? limit.rlim_max : static_cast<rlim_t>(bytes);
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) throw Lacking("the limit cannot be set");
  return Reply("done");
}

Reply Host::LimitDescriptors(Request& request) {
  const int64_t spare = request.TakeInteger();
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  rlim_t most = limit.rlim_max;
  if (spare >= 0) {
    // The lowest number that is free is taken, so what counts are the free numbers below the limit.
    int64_t left = spare;
    for (most = 0; left > 0 || fcntl(static_cast<int>(most), F_GETFD) >= 0; ++most) {
      if (fcntl(static_cast<int>(most), F_GETFD) < 0) --left;
    }
  }
  limit.rlim_cur = most;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Lacking("the limit cannot be set");
  return Reply("done");
}

Reply Host::Preset(Request& request) {
  const auto code = static_cast<TF_Code>(request.TakeInteger());
  PresetStatuses(code, std::string(request.TakeBytes()));
  return Reply("done");
}

Reply Host::Interrupt(Request& request) {
  return std::move(Reply("done").Integer(InterruptOps(request.TakeInteger())));
}

Reply Host::Allocations(Request& request) {
  const int64_t call = request.TakeInteger();
  Reply reply("done");
  for (const auto& [command, count] : WatchAllocations(call, request.TakeInteger()))
    reply.Bytes(command).Integer(count);
  return reply;
}

}  // namespace tffs
