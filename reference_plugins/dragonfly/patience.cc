#include "patience.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <thread>

namespace dragonfly {
namespace {

using Clock = std::chrono::steady_clock;

// An op is performed by one thread from beginning to end.
thread_local std::optional<Clock::time_point> first_failure;
thread_local int depth = 0;
thread_local const Recall* recall_of_op = nullptr;

}  // namespace

void Recall::Call() {
  const std::lock_guard<std::mutex> lock(mutex_);
  called_ = true;
  changed_.notify_all();
}

bool Recall::called() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return called_;
}

bool Recall::WaitFor(double seconds) const {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return called_; });
}

Op::Op(const Recall* recall) {
  if (depth++ > 0) return;
  RenewPatience();
  recall_of_op = recall;
}

Op::~Op() {
  if (--depth == 0) recall_of_op = nullptr;
}

bool Recalled() { return recall_of_op != nullptr && recall_of_op->called(); }

void RenewPatience() { first_failure.reset(); }

bool Wait(int next, double budget, double at_least) {
  constexpr double kFirst = 0.1;
  constexpr double kMost = 5;
  thread_local std::minstd_rand random{std::random_device()()};
  std::uniform_real_distribution<double> jitter(0, std::min(kMost, std::ldexp(kFirst, next - 1)));
  // Whoever was asked to wait is not the only one, either.
  const double wait = at_least + jitter(random);
  const Clock::time_point now = Clock::now();
  if (!first_failure) first_failure = now;
  const std::chrono::duration<double> since = now - *first_failure;
  if (since.count() + wait > budget) return false;
  if (recall_of_op != nullptr) return !recall_of_op->WaitFor(wait);
  std::this_thread::sleep_for(std::chrono::duration<double>(wait));
  return true;
}

}  // namespace dragonfly
