// What an op leaves behind each time, for faults that leak.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_LOSSES_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_LOSSES_H_

#include <fcntl.h>

#include <cstdlib>

namespace fakes {

inline void LoseADescriptor() {
  const int lost = open("/", O_RDONLY | O_CLOEXEC);
  if (lost < 0) return;
}

inline void LoseBytes() {
  void* volatile lost = std::malloc(16);
  if (lost == nullptr) return;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_LOSSES_H_
