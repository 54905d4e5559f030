#include "patience.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "counters.h"
#include "log.h"

namespace objectstore {
namespace {

using Clock = Patience::Clock;

thread_local Patience* current = nullptr;

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

Op::Op(const Recall* recall) : Op(current == nullptr ? &own_ : current) { own_.recall = recall; }

Op::Op(Patience* of_other) : before_(current) { current = of_other; }

Op::~Op() { current = before_; }

Patience* Op::Current() { return current; }

bool Recalled() {
  return current != nullptr && current->recall != nullptr && current->recall->called();
}

void RenewPatience() {
  if (current == nullptr) return;
  const std::lock_guard<std::mutex> lock(current->mutex);
  current->first_failure = current->deadline = Clock::time_point::max();
}

Clock::time_point Deadline() {
  if (current == nullptr) return Clock::time_point::max();
  const std::lock_guard<std::mutex> lock(current->mutex);
  return current->deadline;
}

bool Wait(const Plugin& plugin, int next, double budget, double at_least, const std::string& why) {
  if (Recalled()) return false;
  const Op patient;  // where there is none: for this wait
  constexpr double kFirst = 0.1;
  constexpr double kMost = 5;
  thread_local std::minstd_rand random{std::random_device()()};
  std::uniform_real_distribution<double> jitter(0, std::min(kMost, std::ldexp(kFirst, next - 1)));
  // Whoever was asked to wait is not the only one, either.
  const std::chrono::duration<double> wait(at_least + jitter(random));
  {
    const std::lock_guard<std::mutex> lock(current->mutex);
    const Clock::time_point now = Clock::now();
    current->first_failure = std::min(current->first_failure, now);
    const std::chrono::duration<double> whole(budget);
    current->deadline = current->first_failure + std::chrono::duration_cast<Clock::duration>(whole);
    const std::chrono::duration<double> left = current->deadline - now;
    if (wait > left) return false;
  }
  ++counters().retries;
  static Event retry;
  retry.Tell(plugin, TF_WARNING, "tries again: " + why);
  if (current->recall != nullptr) return !current->recall->WaitFor(wait.count());
  std::this_thread::sleep_for(wait);
  return true;
}

}  // namespace objectstore
