#include "metadata.h"

namespace objectstore {
namespace {

// As many as take about a megabyte.
constexpr size_t kMostAnswers = 4096;

std::string KeyOf(const Name& name) { return name.bucket + "/" + name.key; }

}  // namespace

std::optional<Answer> Metadata::Find(const Name& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kept_.find(KeyOf(name));
  if (found == kept_.end()) return std::nullopt;
  if (found->second.until > Clock::now()) return found->second.answer;
  kept_.erase(found);
  return std::nullopt;
}

uint64_t Metadata::changes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return changes_;
}

void Metadata::Keep(const Name& name, const Answer& answer, uint64_t changes) {
  if (ttl_.count() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (changes != changes_) return;
  if (kept_.size() >= kMostAnswers) kept_.clear();
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(ttl_);
  kept_[KeyOf(name)] = {answer, until};
}

void Metadata::Forget(const Name& name) {
  if (ttl_.count() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++changes_;
  kept_.erase(KeyOf(name));
}

void Metadata::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++changes_;
  kept_.clear();
}

}  // namespace objectstore
