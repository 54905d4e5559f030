// Data that waits: append holds it back, until one of the other ops brings it home or loses it.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_HELD_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_HELD_H_

#include <cstdint>
#include <string>

#include "faults.h"

namespace fakes {

inline PerObject<std::string> held;

inline void Hold(Writer file, const char* buffer, size_t n, Status status) {
  held.With(file->plugin_file, [&](std::string& waiting) { waiting.append(buffer, n); });
  TF_SetStatus(status, TF_OK, "");
}

inline int64_t TellHeld(Writer file, Status status) {
  const int64_t position = Writing().tell(file, status);
  if (position < 0) return position;
  return position + held.With(file->plugin_file, [](const std::string& waiting) {
    return static_cast<int64_t>(waiting.size());
  });
}

template <auto Op>
void BringHeld(Writer file, Status status) {
  std::string waiting;
  held.With(file->plugin_file, [&](std::string& text) { waiting.swap(text); });
  Writing().append(file, waiting.data(), waiting.size(), status);
  if (Worked(status)) (Writing().*Op)(file, status);
}

inline void HoldBack(support::Tables& t) {
  t.writable_file.append = Hold;
  t.writable_file.tell = TellHeld;
  t.writable_file.flush = BringHeld<&WriterOps::flush>;
  t.writable_file.sync = BringHeld<&WriterOps::sync>;
  t.writable_file.close = BringHeld<&WriterOps::close>;
  t.writable_file.cleanup = Forgets<held>;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_HELD_H_
