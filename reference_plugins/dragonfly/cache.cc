#include "cache.h"

#include <utility>

namespace dragonfly {

Content Cache::Get(const std::string& key, const std::function<Content()>& fetch) {
  std::promise<Content> promise;
  std::shared_future<Content> other;
  uint64_t cleared = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Content known = Known(key)) return known;
    const auto fetching = under_way_.find(key);
    if (fetching != under_way_.end()) {
      other = fetching->second;
    } else {
      under_way_[key] = promise.get_future().share();
      cleared = cleared_;
    }
  }
  if (other.valid()) return other.get();
  try {
    Content content = fetch();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      under_way_.erase(key);
      if (cleared == cleared_) Keep(key, content);
    }
    promise.set_value(content);
    return content;
  } catch (...) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      under_way_.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

Content Cache::Known(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->content;
}

Content Cache::Find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Known(key);
}

uint64_t Cache::cleared() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cleared_;
}

void Cache::Put(const std::string& key, Content content, uint64_t cleared) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cleared == cleared_) Keep(key, std::move(content));
}

void Cache::Keep(const std::string& key, Content content) {
  constexpr size_t kMostFiles = 128;
  if (content->size() > most_ || by_key_.count(key) != 0) return;
  bytes_ += content->size();
  kept_.push_front({key, std::move(content)});
  by_key_[key] = kept_.begin();
  while (bytes_ > most_ || kept_.size() > kMostFiles) {
    bytes_ -= kept_.back().content->size();
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

void Cache::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++cleared_;
  bytes_ = 0;
  by_key_.clear();
  kept_.clear();
}

}  // namespace dragonfly
