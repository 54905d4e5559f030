#include "growing.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "patience.h"
#include "streams.h"
#include "test.h"
#include "transport.h"

namespace objectstore {
namespace {

constexpr char kText[] = "0123456789";
constexpr size_t kSize = 10;

// Sends what is asked for, as far as it is allowed to.
class Source {
 public:
  // Bytes in front of `end` may come.
  void Allow(size_t end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    allowed_ = end;
    changed_.notify_all();
  }

  void Fill(Sink* sink) {
    const std::string range = sink->Ask();
    Response response;
    response.status = range.empty() ? 200 : 206;
    if (!range.empty()) response.headers["content-range"] = "bytes " + range.substr(6) + "/10";
    if (!sink->Begin(response)) throw Failure(TF_INTERNAL, "another range");
    for (size_t k = range.empty() ? 0 : std::stoul(range.substr(6)); k < kSize; ++k) {
      if (k == 5 && breaks > 0) {
        --breaks;
        throw Failure(TF_UNAVAILABLE, "it broke");
      }
      std::unique_lock<std::mutex> lock(mutex_);
      while (k >= allowed_) {
        changed_.wait_for(lock, std::chrono::milliseconds(1));
        if (Recalled()) throw Failure(TF_UNAVAILABLE, "recalled");
      }
      sink->Take(kText + k, 1);
      sink->Flush();
    }
    if (sink->Fault() == nullptr) return;
    if (!sink->Clear()) throw Altered();
    Fill(sink);
  }

  std::shared_ptr<Growing> Begin(const Checksum& checksum = {}) {
    return std::make_shared<Growing>(
        std::make_shared<Spool>("/tmp"), kSize, checksum, [this](Sink* sink) { Fill(sink); },
        [](Content) {});
  }

  std::atomic<int> breaks{0};  // how often it breaks in the middle

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t allowed_ = kSize;
};

std::string Got(const Readable& file, uint64_t offset, size_t n) {
  std::string got(n, ' ');
  got.resize(file.Read(offset, n, got.data()));
  return got;
}

TEST(GrowingIsReadWhileItComes) {
  Source source;
  source.Allow(5);
  const auto growing = source.Begin();
  EXPECT_EQUAL(Got(*growing, 1, 4), "1234");
  EXPECT_EQUAL(Got(*growing, 10, 1), "");
  source.Allow(kSize);
  EXPECT_EQUAL(Got(*growing, 8, 100), "89");
  EXPECT_EQUAL(growing->Whole()->size(), uint64_t{kSize});
}

TEST(GrowingEndsWithItsLastReader) {
  Source source;
  source.Allow(5);
  EXPECT_EQUAL(Got(*source.Begin(), 0, 1), "0");
}

// A child that exits. What is registered before main comes last at an exit.
bool exits = false;
const int kRegistered = std::atexit([] {
  if (exits) unit::EndChild(true);
});

// The files of a process that ends need not be closed.
TEST(GrowingEndsWithItsProcess) {
  EXPECT_EQUAL(kRegistered, 0);
  int ends[2];
  EXPECT_EQUAL(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    exits = true;
    static const auto* const open = new Growing(
        std::make_shared<Spool>("/tmp"), kSize, Checksum(),
        [&](Sink*) {
          while (!Recalled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (write(ends[1], "r", 1) != 1) std::abort();
        },
        [](Content) {});
    if (open == nullptr) std::abort();
    std::exit(0);
  }
  close(ends[1]);
  char told = ' ';
  EXPECT_EQUAL(read(ends[0], &told, 1), ssize_t{1});
  EXPECT_EQUAL(told, 'r');
  close(ends[0]);
  EXPECT_EQUAL(unit::HeldIn(child), true);
}

TEST(GrowingGoesOnWhereItBroke) {
  Source source;
  source.breaks = 1000;
  const auto growing = source.Begin();
  EXPECT_EQUAL(Got(*growing, 0, 5), "01234");
  EXPECT_FAILS(growing->Read(5, 1, nullptr), TF_UNAVAILABLE, "it broke");
  EXPECT_EQUAL(Got(*growing, 0, 5), "01234");
  source.breaks = 0;
  EXPECT_EQUAL(Got(*growing, 0, kSize), kText);
}

TEST(GrowingHandsOutTheLastByteWhenAllAreCompared) {
  Source source;
  source.Allow(9);
  const auto growing = source.Begin({Sum::kMd5, "another"});
  EXPECT_EQUAL(Got(*growing, 0, 9), "012345678");
  source.Allow(kSize);
  EXPECT_FAILS(growing->Read(9, 1, nullptr), TF_DATA_LOSS, "not what the store has");
  EXPECT_FAILS(growing->Read(0, 1, nullptr), TF_DATA_LOSS, "not what the store has");
  EXPECT_EQUAL(growing->state()->is_lost.load(), true);
}

TEST(GrowingServesManyThreads) {
  Source source;
  source.breaks = 1;
  const auto growing = source.Begin({Sum::kMd5, "781e5e245d69b566979b86e28d23f2c7"});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 16; ++k) {
    threads.emplace_back([&, k] {
      for (bool done = false; !done;) {
        try {
          const auto offset = static_cast<size_t>(k % 10);
          if (Got(*growing, offset, 3) != std::string(kText).substr(offset, 3)) ++wrong;
          done = true;
        } catch (const Failure& failure) {
          if (failure.code() != TF_UNAVAILABLE) done = ++wrong > 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQUAL(wrong.load(), 0);
}

TEST(StreamsAreSharedAndBounded) {
  Source source;
  source.Allow(5);
  Streams streams;
  std::vector<std::shared_ptr<Growing>> all;
  const auto make = [&] { return source.Begin(); };
  for (int k = 0; k < 64; ++k) all.push_back(streams.Get(std::to_string(k), make));
  EXPECT_EQUAL(streams.Get("0", make) == all[0], true);
  EXPECT_EQUAL(streams.Get("64", make) == nullptr, true);
  all.pop_back();
  const auto other = streams.Get("64", make);
  EXPECT_EQUAL(other != nullptr, true);
  streams.Distrust("65");
  all.clear();
  EXPECT_EQUAL(streams.Get("65", make) == nullptr, true);
}

}  // namespace
}  // namespace objectstore
