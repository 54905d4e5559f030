#include "growing.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test.h"
#include "transport.h"

namespace objectstore {
namespace {

constexpr char kText[] = "0123456789";
constexpr size_t kSize = 10;

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
  const Checksum checksum = {Sum::kMd5, "781e5e245d69b566979b86e28d23f2c7"};
  const auto growing = std::make_shared<Growing>(std::make_shared<Spool>("/tmp"), kSize, checksum,
                                                 fill, [](Content) {});
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
