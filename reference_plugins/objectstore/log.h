// What whoever operates this asks for, in TensorFlow's log: a line for what happened, and of what
// happens again and again a line a minute, with how often it did. Texts are as those of failures:
// for a person, without secrets.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "plugin.h"
#include "tf_filesystem_plugin.h"

namespace objectstore {

// A kind of line. Without a lock, which a child of fork might find taken.
class Event {
 public:
  // Never under a lock: whoever reads the log may be slow.
  void Tell(const Plugin& plugin, TF_LogLevel level, const std::string& text) noexcept;

 private:
  std::atomic<int64_t> next_{INT64_MIN};  // when there may be another line
  std::atomic<uint64_t> left_out_{0};     // since the last one
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_
