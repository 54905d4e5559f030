#include "growing.h"

#include <algorithm>
#include <utility>

#include "failure.h"
#include "transport.h"

namespace objectstore {

Growing::Growing(std::shared_ptr<Spool> spool, uint64_t size, Checksum checksum, Fill fill,
                 Keep keep)
    : spool_(std::move(spool)),
      size_(size),
      fill_(std::move(fill)),
      keep_(std::move(keep)),
      sink_(spool_.get(), {0, size, size}, std::move(checksum), this) {
  Enter();
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    Start();
  } catch (...) {
    Leave();
    throw;
  }
}

Growing::~Growing() {
  Leave();
  Stop();
}

void Growing::Stop() {
  recall_.Call();
  if (thread_.joinable()) thread_.join();
}

size_t Growing::Read(uint64_t offset, size_t n, char* buffer) const {
  if (offset >= size_ || n == 0) return 0;
  n = static_cast<size_t>(std::min<uint64_t>(n, size_ - offset));
  Await(offset + n, true);
  return spool_->Read(offset, n, buffer);
}

Content Growing::Whole() const {
  Await(size_, false);
  return spool_;
}

bool Growing::May(uint64_t end) const {
  return is_whole_ || (!is_altered_ && !is_forgotten_ && end < size_ && end <= spool_->size());
}

void Growing::Await(uint64_t end, bool reads) const {
  if (is_whole_) return;
  std::unique_lock<std::mutex> lock(mutex_);
  if (!May(end) && !state_->is_running && !state_->is_lost) Start();
  while (!May(end) && state_->is_running) {
    awaited_ = std::min(awaited_, end);
    changed_.wait(lock);
  }
  if (!May(end)) std::rethrow_exception(failure_);
  is_read_ = is_read_ || reads;
}

void Growing::Start() const {
  if (thread_.joinable()) thread_.join();  // it said that it is at its end
  thread_ = Undisturbed([this] { return std::thread(run_); });
  state_->is_running = true;
}

void Growing::Run() noexcept {
  std::exception_ptr failure;
  bool is_altered = false;
  bool is_lost = false;
  try {
    const Op patient(&recall_);
    fill_(&sink_);
    keep_(spool_);
  } catch (const Altered&) {
    failure = std::current_exception();
    is_lost = is_altered = true;
  } catch (const Changed&) {
    failure = std::current_exception();
    is_lost = true;
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = failure;
  is_whole_ = failure == nullptr;
  is_altered_ = is_altered;
  state_->is_lost = is_lost;
  state_->is_running = false;
  changed_.notify_all();
}

// A child of fork has the file, which is its parent's, too, but not the thread. What came can be
// read there. The rest cannot: who opens the object anew gets it. Nothing here is ever destroyed
// there, for that waits for threads.
void Growing::Abandon() noexcept {
  new std::shared_ptr<Growing>(weak_from_this().lock());
  new std::thread(std::move(thread_));
  if (is_whole_) return;
  failure_ = std::make_exception_ptr(
      Failure(TF_UNAVAILABLE, "the process forked while the object came: open it again"));
  state_->is_lost = true;
  state_->is_running = false;
}

void Growing::Grew() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_forgotten_ = false;
  // Nobody wakes up for what does not help.
  if (spool_->size() < awaited_) return;
  awaited_ = kNobody;
  changed_.notify_all();
}

bool Growing::MayForget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_forgotten_ = !is_read_;
  return is_forgotten_;
}

}  // namespace objectstore
