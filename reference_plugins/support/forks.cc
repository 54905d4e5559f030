#include "forks.h"

#include <pthread.h>

#include <utility>

namespace support {
namespace {

// Neither of these is ever destroyed: a process may fork while it ends.
std::mutex mutex_of_all;
ForkGuard* first = nullptr;

}  // namespace

ForkGuard::ForkGuard(std::mutex& mutex, std::function<void()> in_child)
    : mutex_(mutex), in_child_(std::move(in_child)) {
  static std::once_flag once;
  // Belongs to this library: when that is unloaded, the three are forgotten.
  std::call_once(once, [] { pthread_atfork(Before, InParent, InChild); });
  const std::lock_guard<std::mutex> lock(mutex_of_all);
  next_ = std::exchange(first, this);
}

ForkGuard::~ForkGuard() {
  const std::lock_guard<std::mutex> lock(mutex_of_all);
  ForkGuard** link = &first;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

void ForkGuard::Before() {
  mutex_of_all.lock();
  for (ForkGuard* one = first; one != nullptr; one = one->next_) one->mutex_.lock();
}

void ForkGuard::InParent() {
  for (ForkGuard* one = first; one != nullptr; one = one->next_) one->mutex_.unlock();
  mutex_of_all.unlock();
}

void ForkGuard::InChild() {
  for (ForkGuard* one = first; one != nullptr; one = one->next_) one->in_child_();
  InParent();
}

}  // namespace support
