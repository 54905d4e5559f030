#include "durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "support/paths.h"

namespace posix {

int Persist(const support::Descriptor& descriptor) {
  while (fsync(descriptor.get()) != 0) {
    // Devices have nothing to persist.
    if (errno == EINVAL) break;
    if (errno != EINTR) return errno;
  }
  return 0;
}

int PersistName(const support::Descriptor& file, const std::string& path) {
  const support::Descriptor directory =
      support::Descriptor::Open(support::ParentOf(path).c_str(), O_RDONLY | O_DIRECTORY);
  if (directory.is_open()) return Persist(directory);
  // It may be gone; and one may make files in a directory that one must not read.
  if (errno == ENOENT || errno == ENOTDIR) return 0;
  return errno == EACCES && syncfs(file.get()) == 0 ? 0 : errno;
}

}  // namespace posix
