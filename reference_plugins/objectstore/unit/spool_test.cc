#include "spool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "digest.h"
#include "test.h"

namespace objectstore {
namespace {

TEST(SpoolThatIsFullKeepsWhatItHad) {
  Spool spool("/tmp");
  spool.Append("0123", 4);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_FAILS(spool.Append("0123456789", 10), TF_RESOURCE_EXHAUSTED, "takes no more");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQUAL(spool.size(), uint64_t{4});
  spool.Append("4", 1);
  char buffer[20];
  EXPECT_EQUAL(std::string(buffer, spool.Read(0, 20, buffer)), "01234");
}

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

TEST(DigestsInBase64) { EXPECT_EQUAL(Base64(Md5("abc")), "kAFQmDzST7DWlj99KOF/cg=="); }

}  // namespace
}  // namespace objectstore
