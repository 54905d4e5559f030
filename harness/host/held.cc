// Descriptors that the host holds where a plugin had its own: who closes one twice closes these.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "host.h"

namespace tffs {

HeldDescriptor::HeldDescriptor(int number) : number_(number) { fstat(number, &facts_); }

bool HeldDescriptor::IsThere() const {
  struct stat facts;
  return fstat(number_, &facts) == 0 && facts.st_dev == facts_.st_dev &&
         facts.st_ino == facts_.st_ino;
}

Reply Host::Hold(Request& request) {
  for (int64_t left = request.TakeInteger(); left > 0; --left) {
    // Each has a file of its own, so that what is opened in its place is seen.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Lacking("there are no more descriptors to be had");
    for (const int number : ends) held_.emplace_back(number);
  }
  return Reply("done");
}

Reply Host::Held(Request&) {
  int64_t lost = 0;
  for (const HeldDescriptor& one : held_) {
    if (one.IsThere()) {
      close(one.number());
    } else {
      ++lost;
    }
  }
  held_.clear();
  return std::move(Reply("done").Integer(lost));
}

}  // namespace tffs
