#include "log.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace dragonfly {
namespace {

using Seconds = std::chrono::seconds;

constexpr Seconds kPause(60);
constexpr size_t kEvents = static_cast<size_t>(Event::kNoMd5) + 1;

// Of one event. Without a lock, which a child of fork might find taken.
struct Line {
  std::atomic<int64_t> next{INT64_MIN};  // when there may be another line
  std::atomic<uint64_t> left_out{0};     // since the last one
};

}  // namespace

void Tell(Event event, TF_LogLevel level, const std::string& text) noexcept {
  static Line all[kEvents];
  Line& line = all[static_cast<size_t>(event)];
  const auto passed = std::chrono::steady_clock::now().time_since_epoch();
  const Seconds now = std::chrono::duration_cast<Seconds>(passed);
  int64_t next = line.next;
  if (now.count() < next || !line.next.compare_exchange_strong(next, (now + kPause).count())) {
    ++line.left_out;
    return;
  }
  const uint64_t more = line.left_out.exchange(0);
  if (more == 0) return TF_Log(level, "dragonfly: %s", text.c_str());
  TF_Log(level, "dragonfly: %s (and %llu times since the last such line)", text.c_str(),
         static_cast<unsigned long long>(more));
}

}  // namespace dragonfly
