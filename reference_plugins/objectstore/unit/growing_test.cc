#include "growing.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "patience.h"
#include "test.h"
#include "transport.h"

namespace objectstore {
namespace {

constexpr char kText[] = "0123456789";
constexpr size_t kSize = 10;

std::shared_ptr<Growing> Filled(const Checksum& checksum, std::function<void(Sink*)> fill) {
  return std::make_shared<Growing>(std::make_shared<Spool>("/tmp"), kSize, checksum, fill,
                                   [](Content) {});
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
    static const auto* const open = new auto(Filled({}, [&](Sink*) {
      while (!Recalled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (write(ends[1], "r", 1) != 1) std::abort();
    }));
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

TEST(GrowingServesManyThreads) {
  std::atomic<bool> has_broken{false};
  // Breaks in the middle, and goes on from there.
  const auto fill = [&](Sink* sink) {
    const std::string range = sink->Ask();
    const size_t begin = range.empty() ? 0 : std::stoul(range.substr(6));
    Response response;
    response.status = range.empty() ? 200 : 206;
    if (begin > 0) response.headers["content-range"] = "bytes " + range.substr(6) + "/10";
    if (!sink->Begin(response)) throw Failure(TF_INTERNAL, "another range");
    for (size_t k = begin; k < kSize; ++k) {
      if (k == 5 && !has_broken.exchange(true)) throw Failure(TF_UNAVAILABLE, "it broke");
      sink->Take(kText + k, 1);
      sink->Flush();
    }
    if (sink->Fault() != nullptr) throw Altered();
  };
  const auto growing = Filled({Sum::kMd5, "781e5e245d69b566979b86e28d23f2c7"}, fill);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 16; ++k) {
    threads.emplace_back([&, k] {
      for (bool done = false; !done;) {
        try {
          const auto offset = static_cast<size_t>(k % 10);
          std::string got(3, ' ');
          got.resize(growing->Read(offset, 3, got.data()));
          if (got != std::string(kText).substr(offset, 3)) ++wrong;
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

}  // namespace
}  // namespace objectstore
