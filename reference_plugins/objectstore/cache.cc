#include "cache.h"

#include <algorithm>
#include <utility>

#include "counters.h"

namespace objectstore {

Content Cache::Get(const std::string& key, const std::function<Content()>& fetch) {
  std::promise<Content> promise;
  std::shared_future<Content> other;
  Dropped dropped;
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
      if (cleared == cleared_) Keep(key, content, &dropped);
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
  counters().bytes_from_cache += found->second->content->size();
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
  Dropped dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cleared == cleared_) Keep(key, std::move(content), &dropped);
}

void Cache::Keep(const std::string& key, Content content, Dropped* dropped) {
  if (content->size() > most_ || by_key_.count(key) != 0) return;
  bytes_ += content->size();
  kept_.push_front({key, std::move(content)});
  by_key_[key] = kept_.begin();
  MakeFit(dropped);
}

void Cache::Drop(std::list<Kept>::iterator one, Dropped* dropped) {
  bytes_ -= one->content->size();
  by_key_.erase(one->key);
  dropped->splice(dropped->end(), kept_, one);
  ++counters().evictions;
}

void Cache::MakeFit(Dropped* dropped) {
  constexpr size_t kMostFiles = 128;
  while (!kept_.empty() && (bytes_ + coming_ > most_ || kept_.size() > kMostFiles)) {
    Drop(std::prev(kept_.end()), dropped);
  }
}

std::shared_ptr<void> Cache::Reserve(uint64_t bytes) {
  const auto end = [this, bytes](void*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    coming_ -= std::min(coming_, bytes);  // a child of fork begins with none
  };
  Dropped dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    coming_ += bytes;
    MakeFit(&dropped);
  }
  return {nullptr, end};
}

bool Cache::Evict() {
  Dropped dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto one = kept_.end(); one != kept_.begin();) {
    if ((--one)->content.use_count() > 1) continue;
    Drop(one, &dropped);
    return true;
  }
  return false;
}

void Cache::Clear() {
  Dropped dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++cleared_;
  bytes_ = 0;
  by_key_.clear();
  dropped.swap(kept_);
}

}  // namespace objectstore
