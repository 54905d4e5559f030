#include "streams.h"

#include <algorithm>

namespace objectstore {

std::shared_ptr<Growing> Streams::Get(const std::string& key,
                                      const std::function<std::shared_ptr<Growing>()>& make) {
  const std::lock_guard<std::mutex> one_at_a_time(*making_);
  std::unique_lock<std::mutex> lock(mutex_);
  if (std::find(distrusted_.begin(), distrusted_.end(), key) != distrusted_.end()) return nullptr;
  const auto found = entries_.find(key);
  if (found != entries_.end() && !found->second.state->is_lost) {
    if (auto growing = found->second.growing.lock()) return growing;
  }
  int running = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.state->is_running) ++running;
    entry = entry->second.growing.expired() ? entries_.erase(entry) : std::next(entry);
  }
  if (running >= most_) return nullptr;
  lock.unlock();
  auto growing = make();
  lock.lock();
  entries_[key] = {growing, growing->state()};
  return growing;
}

void Streams::Distrust(const std::string& key) {
  constexpr size_t kMost = 128;
  const std::lock_guard<std::mutex> lock(mutex_);
  distrusted_.push_front(key);
  if (distrusted_.size() > kMost) distrusted_.pop_back();
}

void Streams::Forget() noexcept {
  entries_.clear();
  making_.release();  // a thread that is not here may have it, for ever now
  making_ = std::make_unique<std::mutex>();
}

void Streams::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.clear();
}

}  // namespace objectstore
