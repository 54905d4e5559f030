#include "times.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace objectstore {

int64_t TimeOf(const std::string& text) {
  constexpr int64_t kNanosecondsInSecond = 1000000000;
  constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::tm parts = {};
  char month[4] = "";
  int milliseconds = 0;
  if (std::sscanf(text.c_str(), "%*3s, %d %3s %d %d:%d:%d", &parts.tm_mday, month, &parts.tm_year,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec) == 6) {
    const char* found = std::strstr(kMonths, month);
    if (found == nullptr) return 0;
    parts.tm_mon = static_cast<int>(found - kMonths) / 3;
  } else if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%3d", &parts.tm_year, &parts.tm_mon,
                         &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec,
                         &milliseconds) >= 6) {
    --parts.tm_mon;
  } else {
    return 0;
  }
  parts.tm_year -= 1900;
  // What is further away than nanoseconds can count is as far as they can.
  constexpr int64_t kMost = INT64_MAX / kNanosecondsInSecond - 1;
  const int64_t seconds = std::clamp<int64_t>(timegm(&parts), -kMost, kMost);
  return seconds * kNanosecondsInSecond + milliseconds * int64_t{1000000};
}

}  // namespace objectstore
