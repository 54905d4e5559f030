#include "durable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/paths.h"

namespace posix {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY;

// The entries of a directory, and those of the directories above it in its filesystem. Gives 0 or
// an errno value.
int PersistUpwards(support::Descriptor directory) {
  struct stat facts;
  if (fstat(directory.get(), &facts) != 0) return errno;
  for (;;) {
    const int error = Persist(directory);
    if (error != 0) return error;
    directory = support::Descriptor::Open("..", kDirectory, directory.get());
    // It may be gone; and to wait for one that must not be read is to wait for all that others
    // write.
    if (!directory.is_open()) return errno == ENOENT || errno == EACCES ? 0 : errno;
    const struct stat below = facts;
    if (fstat(directory.get(), &facts) != 0) return errno;
    // Here another filesystem begins; or it is the root, which is above itself.
    if (facts.st_dev != below.st_dev || facts.st_ino == below.st_ino) return 0;
  }
}

}  // namespace

int Persist(const support::Descriptor& descriptor) {
  while (fsync(descriptor.get()) != 0) {
    // Devices have nothing to persist.
    if (errno == EINVAL) break;
    if (errno != EINTR) return errno;
  }
  return 0;
}

int PersistName(const support::Descriptor& file, const std::string& path) {
  support::Descriptor directory =
      support::Descriptor::Open(support::ParentOf(path).c_str(), kDirectory);
  if (directory.is_open()) return PersistUpwards(std::move(directory));
  // It may be gone; and one may make files in a directory that one must not read.
  if (errno == ENOENT || errno == ENOTDIR) return 0;
  return errno == EACCES && syncfs(file.get()) == 0 ? 0 : errno;
}

}  // namespace posix
