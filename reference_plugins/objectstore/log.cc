#include "log.h"

#include <chrono>

namespace objectstore {

void Event::Tell(const Plugin& plugin, TF_LogLevel level, const std::string& text) noexcept {
  using Seconds = std::chrono::seconds;
  constexpr Seconds kPause(60);
  const auto passed = std::chrono::steady_clock::now().time_since_epoch();
  const Seconds now = std::chrono::duration_cast<Seconds>(passed);
  int64_t next = next_;
  if (now.count() < next || !next_.compare_exchange_strong(next, (now + kPause).count())) {
    ++left_out_;
    return;
  }
  const uint64_t more = left_out_.exchange(0);
  const char* who = plugin.scheme;
  if (more == 0) return TF_Log(level, "%s: %s", who, text.c_str());
  TF_Log(level, "%s: %s (and %llu times since the last such line)", who, text.c_str(),
         static_cast<unsigned long long>(more));
}

}  // namespace objectstore
