// What whoever operates this asks for, in TensorFlow's log: a line for what happened, and of what
// happens again and again a line a minute, with how often it did. Texts are as those of failures:
// for a person, without secrets.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_

#include <string>

#include "tf_filesystem_plugin.h"

namespace dragonfly {

enum class Event {
  kServed,
  kPassedBy,
  kSmallParts,
  kRetry,
  kFallback,
  kReplaced,
  kNotReplaced,
  kFull,
  kNoMd5
};

// Never under a lock: whoever reads the log may be slow.
void Tell(Event event, TF_LogLevel level, const std::string& text) noexcept;

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LOG_H_
