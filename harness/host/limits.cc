#include "limits.h"

#include <signal.h>
#include <sys/resource.h>

#include "host.h"

namespace tffs {

void IgnoreFileSizeSignal() { signal(SIGXFSZ, SIG_IGN); }

Reply Host::LimitFileSize(Request& request) {
  const int64_t bytes = request.TakeInteger();
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes < 0 ? limit.rlim_max : static_cast<rlim_t>(bytes);
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) throw BadRequest("the limit cannot be set");
  return Reply("done");
}

Reply Host::Preset(Request& request) {
  const auto code = static_cast<TF_Code>(request.TakeInteger());
  PresetStatuses(code, std::string(request.TakeBytes()));
  return Reply("done");
}

}  // namespace tffs
