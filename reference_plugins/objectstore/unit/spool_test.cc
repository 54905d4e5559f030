#include "spool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "test.h"

namespace objectstore {
namespace {

TEST(SpoolAsksForRoomAsOftenAsItHelps) {
  int last = dup(STDERR_FILENO);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit full = {static_cast<rlim_t>(last) + 1, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &full);
  const auto make_room = [&](const char*) {
    return last >= 0 && close(std::exchange(last, -1)) == 0;
  };
  const Spool spool("/tmp", make_room);
  EXPECT_FAILS(Spool("/tmp", make_room), TF_RESOURCE_EXHAUSTED, "no temporary file");
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace objectstore
