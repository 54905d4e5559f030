// Descriptors that the host holds where a plugin had its own: who closes one twice closes these.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "host.h"

namespace tffs {

Reply Host::Hold(Request& request) {
  for (int64_t left = request.TakeInteger(); left > 0; --left) {
    // Each has a file of its own, so that what is opened in its place is seen.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw BadRequest("there are no more descriptors to be had");
    for (const int number : ends) {
      struct stat facts;
      fstat(number, &facts);
      held_.push_back({number, facts.st_dev, facts.st_ino});
    }
  }
  return Reply("done");
}

Reply Host::Held(Request&) {
  int64_t lost = 0;
  for (const HeldDescriptor& one : held_) {
    struct stat facts;
    if (fstat(one.number, &facts) == 0 && facts.st_dev == one.device && facts.st_ino == one.file) {
      close(one.number);
    } else {
      ++lost;
    }
  }
  held_.clear();
  return std::move(Reply("done").Integer(lost));
}

}  // namespace tffs
