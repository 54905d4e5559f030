#include "parallel.h"

#include <set>
#include <thread>

#include "test.h"

namespace objectstore {
namespace {

TEST(ForEachPerformsEachOnce) {
  std::mutex mutex;
  std::multiset<size_t> done;
  ForEach(100, 4, [&](size_t k) {
    const std::lock_guard<std::mutex> lock(mutex);
    done.insert(k);
  });
  EXPECT_EQUAL(done.size(), size_t{100});
  EXPECT_EQUAL(std::set<size_t>(done.begin(), done.end()).size(), size_t{100});
  ForEach(0, 4, [&](size_t) { ++unit::broken(); });
}

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

TEST(AllThreadsOfAnOpHaveOneBudget) {
  const Op patient;
  Wait(unit::Somebody(), 1, 0.01, 1, "");
  const auto deadline = Deadline();
  EXPECT_EQUAL(Meanwhile([] { return Deadline(); }).get() == deadline, true);
  EXPECT_EQUAL(std::async(std::launch::async, [] { return Deadline(); }).get() == deadline, false);
  EXPECT_EQUAL(Meanwhile([] { return Wait(unit::Somebody(), 1, 0.01, 1, ""); }).get(), false);
}

}  // namespace
}  // namespace objectstore
