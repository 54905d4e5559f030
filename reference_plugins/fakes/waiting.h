// Data that waits: append takes it, and one of the other ops brings it home or loses it.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_WAITING_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_WAITING_H_

#include <cstdint>
#include <string>

#include "faults.h"

namespace fakes {

inline PerObject<std::string> waiting_bytes;

inline void AppendWaiting(Writer file, const char* buffer, size_t n, Status status) {
  waiting_bytes.With(file->plugin_file, [&](std::string& waiting) { waiting.append(buffer, n); });
  TF_SetStatus(status, TF_OK, "");
}

inline int64_t TellWithWaiting(Writer file, Status status) {
  const int64_t position = Writing().tell(file, status);
  if (position < 0) return position;
  return position + waiting_bytes.With(file->plugin_file, [](const std::string& waiting) {
    return static_cast<int64_t>(waiting.size());
  });
}

template <auto Op>
void BringWaiting(Writer file, Status status) {
  std::string waiting;
  waiting_bytes.With(file->plugin_file, [&](std::string& text) { waiting.swap(text); });
  Writing().append(file, waiting.data(), waiting.size(), status);
  if (Worked(status)) (Writing().*Op)(file, status);
}

inline void LetWait(support::Tables& t) {
  t.writable_file.append = AppendWaiting;
  t.writable_file.tell = TellWithWaiting;
  t.writable_file.flush = BringWaiting<&WriterOps::flush>;
  t.writable_file.sync = BringWaiting<&WriterOps::sync>;
  t.writable_file.close = BringWaiting<&WriterOps::close>;
  t.writable_file.cleanup = Forgets<waiting_bytes>;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_WAITING_H_
