#include "cache.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "metadata.h"
#include "test.h"

namespace objectstore {
namespace {

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
        const auto spool = std::make_shared<Spool>("/tmp");
        spool->Append("0123456789", 10);
        return Content(spool);
      });
      if (content->size() != 10) fetched = 100;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQUAL(fetched.load(), 1);
}

const Name kName = {"bucket", "key"};

Version OfSize(uint64_t size) { return {"\"etag\"", size, 0, {}}; }

TEST(MetadataFromBeforeAChangeAreNotKept) {
  Metadata metadata(60);
  const uint64_t before = metadata.changes();
  {
    const Metadata::Change change(metadata, kName);
  }
  metadata.Keep(kName, OfSize(7), before);
  EXPECT_EQUAL(metadata.Find(kName).has_value(), false);
}

TEST(MetadataHaveALimit) {
  Metadata metadata(60);
  int left = 0;
  for (int k = 0; k < 5000; ++k) {
    metadata.Keep({"bucket", std::to_string(k)}, OfSize(1), metadata.changes());
  }
  for (int k = 0; k < 5000; ++k) {
    if (metadata.Find({"bucket", std::to_string(k)})) ++left;
  }
  EXPECT_EQUAL(left > 0 && left <= 4096, true);
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

}  // namespace
}  // namespace objectstore
