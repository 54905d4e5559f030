#include "connections.h"

#include "patience.h"
#include "test.h"

namespace objectstore {
namespace {

TEST(WhoWaitsForAConnectionGivesUpWithTheOp) {
  Connections connections(1);
  const auto busy = connections.Borrow("http://store");
  const Op patient;
  Wait(unit::Somebody(), 1, 0.01, 1, "");  // something failed, and there are 10 ms left
  EXPECT_FAILS(connections.Borrow("http://store"), TF_UNAVAILABLE, "max_connections");
}

}  // namespace
}  // namespace objectstore
