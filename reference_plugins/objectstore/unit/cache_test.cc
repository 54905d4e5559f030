#include "cache.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "test.h"

namespace objectstore {
namespace {

Content Holding(size_t bytes) {
  auto spool = std::make_shared<Spool>("/tmp");
  const std::string text(bytes, 'x');
  spool->Append(text.data(), text.size());
  return spool;
}

// How often `fetch` is called for a key.
struct Counted {
  Cache* cache;
  int fetched = 0;

  Content Get(const std::string& key, size_t bytes) {
    return cache->Get(key, [&] {
      ++fetched;
      return Holding(bytes);
    });
  }
};

TEST(CacheKeepsTheLatest) {
  Cache cache(100);
  Counted counted{&cache};
  counted.Get("a", 40);
  counted.Get("b", 40);
  counted.Get("a", 40);
  EXPECT_EQUAL(counted.fetched, 2);
  counted.Get("c", 40);  // b was not used for longest
  counted.Get("a", 40);
  counted.Get("c", 40);
  EXPECT_EQUAL(counted.fetched, 3);
  counted.Get("b", 40);
  EXPECT_EQUAL(counted.fetched, 4);
}

// Closing a large file takes its time, and others ask meanwhile.
TEST(CacheClosesNothingUnderItsLock) {
  Cache cache(100);
  std::atomic<int> closed{0};
  const auto close = [&](const Spool* spool) {
    const auto told = std::make_shared<std::promise<void>>();
    std::thread([&cache, told] {
      cache.Find("other");
      told->set_value();
    }).detach();
    const auto answered = told->get_future().wait_for(std::chrono::seconds(60));
    closed += answered == std::future_status::ready ? 1 : 100;
    delete spool;
  };
  const auto get = [&](const char* key) {
    cache.Get(key, [&] {
      auto* const spool = new Spool("/tmp");
      spool->Append(std::string(60, 'x').data(), 60);
      return Content(spool, close);
    });
  };
  get("a");
  get("b");
  EXPECT_EQUAL(closed.load(), 1);
  cache.Clear();
  EXPECT_EQUAL(closed.load(), 2);
}

TEST(CacheOfAChildOfForkWaitsForNobody) {
  Cache cache(100);
  std::atomic<bool> fetching{false};
  std::atomic<bool> forked{false};
  std::thread other([&] {
    cache.Get("a", [&] {
      fetching = true;
      while (!forked) std::this_thread::yield();
      return Holding(10);
    });
  });
  while (!fetching) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // where it waits all the same
    Counted counted{&cache};
    counted.Get("a", 10);
    unit::EndChild(counted.fetched == 1);
  }
  forked = true;
  EXPECT_EQUAL(unit::HeldIn(child), true);
  other.join();
}

TEST(CacheFetchesOnceForMany) {
  Cache cache(100);
  std::atomic<int> fetched{0};
  std::atomic<int> asking{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] {
      ++asking;
      const Content content = cache.Get("a", [&] {
        ++fetched;
        while (asking < 8) std::this_thread::yield();
        return Holding(10);
      });
      if (content->size() != 10) fetched = 100;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQUAL(fetched.load(), 1);
}

}  // namespace
}  // namespace objectstore
