// What a soak writes, and what it counts.

#ifndef TFFS_BENCHMARKS_SOAK_H_
#define TFFS_BENCHMARKS_SOAK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace soak {

// What is known of the versions of one key.
struct Key {
  std::atomic<uint64_t> begun{0};   // the last that somebody tried to write
  std::atomic<uint64_t> oldest{0};  // no older one may be read
  // A write that failed may still come to pass, after others: then an older version is right.
  std::atomic<bool> may_come{false};
};

struct Setting {
  std::string root;
  std::vector<Key> keys;
  uint64_t most;  // bytes
  std::atomic<bool> is_over{false};

  Setting(std::string at, size_t count, uint64_t size)
      : root(std::move(at)), keys(count), most(size) {}
  std::string Path(size_t key) const { return root + "/" + std::to_string(key); }
  // Small objects are many, large ones few.
  uint64_t Size(size_t key) const { return std::max<uint64_t>(1000, most >> (key % 10)) + key; }
};

// What came of all ops.
class Tally {
 public:
  void Add(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[what];
  }

  void Wrong(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (++wrong_ <= 20) std::fprintf(stderr, "wrong: %s\n", what.c_str());
  }

  // Codes that were told, with the first message of each.
  void Error(const std::string& op, TF_Status* status) {
    const std::string name = op + " " + std::to_string(TF_GetCode(status));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (++counts_[name] == 1) std::fprintf(stderr, "%s: %s\n", name.c_str(), TF_Message(status));
  }

  std::string Json() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string text = "{\"wrong\": " + std::to_string(wrong_);
    for (const auto& [name, count] : counts_) {
      text += ", \"" + name + "\": " + std::to_string(count);
    }
    return text + "}";
  }

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
  uint64_t wrong_ = 0;
};

inline uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The bytes of a version from `offset` on. The first eight are the version, in a disguise that
// belongs to the key.
inline void Make(size_t key, uint64_t version, uint64_t offset, size_t n, char* buffer) {
  for (size_t k = 0; k < n;) {
    const uint64_t word = (offset + k) / 8;
    const uint64_t value = word == 0 ? version ^ Mixed(key) : Mixed(version ^ Mixed(key) ^ word);
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    const size_t within = (offset + k) % 8;
    const size_t some = std::min(n - k, 8 - within);
    std::memcpy(buffer + k, bytes + within, some);
    k += some;
  }
}

}  // namespace soak

#endif  // TFFS_BENCHMARKS_SOAK_H_
