#include "rename_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "support/descriptor.h"
#include "support/paths.h"
#include "support/status.h"

namespace posix {
namespace {

// Brings the bytes from `from` behind what `to` holds. Gives 0 or an errno value.
int CopyBytes(int from, int to) {
  constexpr size_t kChunk = size_t{1} << 30;
  // The kernel copies fastest, where it can. Both files keep their positions, so wherever it stops,
  // at the end, at a pair of filesystems it cannot do, or at a failure, the loop below goes on from
  // there, and meets the failure again.
  while (copy_file_range(from, nullptr, to, nullptr, kChunk, 0) > 0) {
  }
  std::vector<char> buffer(size_t{128} << 10);
  while (true) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (ssize_t done = 0; done < got;) {
      const ssize_t taken = write(to, buffer.data() + done, static_cast<size_t>(got - done));
      if (taken < 0 && errno != EINTR) return errno;
      if (taken > 0) done += taken;
    }
  }
}

// Writes a copy of `from` beside `target` and puts it in the target's place in one step. Gives 0 or
// an errno value.
int CopyThenReplace(int from, mode_t mode, const char* target) {
  // A short name of its own: the target's may be as long as a name can be.
  std::string sibling = support::ParentOf(target) + "/.copy-XXXXXX";
  support::Descriptor to(mkostemp(sibling.data(), O_CLOEXEC));
  if (!to.is_open()) return errno;
  int error = CopyBytes(from, to.get());
  if (error == 0 && fchmod(to.get(), mode & 07777) != 0) error = errno;
  const int closing = to.Close();
  if (error == 0) error = closing;
  if (error == 0 && rename(sibling.c_str(), target) != 0) error = errno;
  if (error != 0) unlink(sibling.c_str());
  return error;
}

}  // namespace

void RenameFile(const TF_Filesystem*, const char* source, const char* target,
                TF_Status* status) noexcept {
  // rename(2) does most of it, in one step; but it would move directories too.
  struct stat facts;
  if (stat(source, &facts) != 0) return support::SetErrno(status, errno, source);
  if (S_ISDIR(facts.st_mode)) return support::SetErrno(status, EISDIR, source);
  if (stat(target, &facts) == 0 && S_ISDIR(facts.st_mode))
    return support::SetErrno(status, EISDIR, target);
  // The source was there a moment ago, so what rename(2) misses or refuses is the target.
  if (rename(source, target) != 0) return support::SetErrno(status, errno, target);
  support::SetOk(status);
}

void CopyFile(const TF_Filesystem*, const char* source, const char* target,
              TF_Status* status) noexcept {
  support::Guarded(status, source, [&] {
    const support::Descriptor from = support::Descriptor::Open(source, O_RDONLY);
    struct stat facts;
    if (!from.is_open() || fstat(from.get(), &facts) != 0)
      return support::SetErrno(status, errno, source);
    if (S_ISDIR(facts.st_mode)) return support::SetErrno(status, EISDIR, source);
    mode_t mode = facts.st_mode;
    struct stat present;
    if (stat(target, &present) == 0) {
      if (S_ISDIR(present.st_mode)) return support::SetErrno(status, EISDIR, target);
      // Devices and pipes would be replaced by a file.
      if (!S_ISREG(present.st_mode)) {
        return support::SetError(status, TF_FAILED_PRECONDITION, target, "not a regular file");
      }
      // A file is its own copy.
      if (present.st_dev == facts.st_dev && present.st_ino == facts.st_ino)
        return support::SetOk(status);
      mode = present.st_mode;
    }
    support::SetErrno(status, CopyThenReplace(from.get(), mode, target), target);
  });
}

}  // namespace posix
