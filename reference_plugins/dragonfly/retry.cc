#include "retry.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace dragonfly {

void Pause(int next) {
  constexpr int kFirst = 100;  // milliseconds
  constexpr int kMost = 5000;
  thread_local std::minstd_rand random{std::random_device()()};
  const int longest = std::min(kMost, kFirst << std::min(next - 1, 10));
  std::uniform_int_distribution<int> jittered(longest / 2, longest);
  std::this_thread::sleep_for(std::chrono::milliseconds(jittered(random)));
}

}  // namespace dragonfly
