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

}  // namespace

Op::Op() {
  if (depth++ == 0) RenewPatience();
}

Op::~Op() { --depth; }

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
  std::this_thread::sleep_for(std::chrono::duration<double>(wait));
  return true;
}

}  // namespace dragonfly
