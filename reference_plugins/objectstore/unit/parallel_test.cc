#include "parallel.h"

#include <thread>

#include "connections.h"
#include "patience.h"
#include "test.h"

namespace objectstore {
namespace {

TEST(ForEachEndsWhenAllHaveEnded) {
  constexpr int kCount = 10000;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<bool> fails{false};
  const auto all = [&] {
    ForEach(kCount, 4, [&](size_t k) {
      ++begun;
      if (k == 2) fails = true;
      // The others are not through before the third says so, whichever thread has a processor.
      do {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } while (!fails);
      ++ended;
      if (k == 2) throw Failure(TF_ABORTED, "the third");
    });
  };
  EXPECT_FAILS(all(), TF_ABORTED, "the third");
  EXPECT_EQUAL(begun.load(), ended.load());
  EXPECT_EQUAL(begun.load() < kCount, true);  // no further ones are begun
}

TEST(WhoWaitsForAConnectionGivesUpWithTheOp) {
  Connections connections(1);
  const auto busy = connections.Borrow("http://store");
  const Op patient;
  Wait(unit::Somebody(), 1, 0.01, 1, "");  // something failed, and there are 10 ms left
  EXPECT_FAILS(connections.Borrow("http://store"), TF_UNAVAILABLE, "max_connections");
}

}  // namespace
}  // namespace objectstore
