#include "rename_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "durable.h"
#include "files.h"
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

// Where links lead, which need not be there. Gives 0 or an errno value.
int Follow(std::string* path) {
  constexpr int kMost = 40;  // as many as the kernel follows
  char link[PATH_MAX];
  for (int k = 0; k < kMost; ++k) {
    const ssize_t length = readlink(path->c_str(), link, sizeof link);
    if (length < 0) return 0;
    const std::string next(link, static_cast<size_t>(length));
    *path = next.front() == '/' ? next : support::ParentOf(*path) + "/" + next;
  }
  return ELOOP;
}

// A short name for a copy beside its target, whose own may be as long as one can be.
std::string Sibling(const std::string& directory, int k) {
  return directory + "/.copy-" + std::to_string(getpid()) + "-" + std::to_string(k);
}

// A file to write, without a name, so that nothing of it is left if the process ends; or, where the
// filesystem has none such, with the one that `name` gets.
support::Descriptor NewFile(const std::string& directory, std::string* name) {
  support::Descriptor made = support::Descriptor::Open(directory.c_str(), O_TMPFILE | O_WRONLY);
  for (int k = 0; !made.is_open() && (k == 0 || errno == EEXIST); ++k) {
    *name = Sibling(directory, k);
    made = support::Descriptor::Open(name->c_str(), O_CREAT | O_EXCL | O_WRONLY);
  }
  return made;
}

// Gives a file without a name this one, which must be free. Gives 0 or an errno value.
int Name(const support::Descriptor& file, const std::string& name) {
  const std::string self = "/proc/self/fd/" + std::to_string(file.get());
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

// Writes a copy of `from` beside `target` and puts it in the target's place in one step. A file of
// its own has the mode of a new one. Gives 0 or an errno value.
int CopyThenReplace(int from, std::optional<mode_t> mode, bool durable, const std::string& target) {
  const std::string directory = support::ParentOf(target);
  std::string sibling;
  support::Descriptor to = NewFile(directory, &sibling);
  if (!to.is_open()) return errno;
  // Who copies does not hand on the right to act as the owner.
  int error = mode && fchmod(to.get(), *mode & 0777) != 0 ? errno : 0;
  if (error == 0) error = CopyBytes(from, to.get());
  if (error == 0 && durable) error = Persist(to);
  if (error == 0 && sibling.empty()) {
    error = Name(to, target);
    // What is there is replaced by a file that has a name; only a process that ends here leaves it.
    for (int k = 0; error == EEXIST; ++k) error = Name(to, sibling = Sibling(directory, k));
    if (error != 0) sibling.clear();
  }
  if (error == 0 && !sibling.empty() && rename(sibling.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0 && !sibling.empty()) unlink(sibling.c_str());
  if (error == 0 && durable) error = PersistName(to, target);
  const int closing = to.Close();
  return error == 0 ? closing : error;
}

// Copies `from`, which is `facts`, onto what `target` leads to.
void Copy(int from, const struct stat& facts, std::optional<mode_t> mode, bool durable,
          const char* target, TF_Status* status) {
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
  // As with what is written there: a link stays, and leads to the copy.
  std::string place = target;
  int error = Follow(&place);
  if (error == 0) error = CopyThenReplace(from, mode, durable, place);
  support::SetErrno(status, error, target);
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
    struct stat facts;
    const support::Descriptor from = OpenFile(source, O_RDONLY, &facts, status);
    if (from.is_open()) Copy(from.get(), facts, facts.st_mode, false, target, status);
  });
}

void BringFile(int from, const char* target, TF_Status* status) noexcept {
  support::Guarded(status, target, [&] {
    struct stat facts;
    if (fstat(from, &facts) != 0) return support::SetErrno(status, errno, target);
    Copy(from, facts, std::nullopt, true, target, status);
  });
}

}  // namespace posix
