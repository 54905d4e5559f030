// How many processes may have the plugin at a time: this one is like a plugin with a port or a
// journal of its own. Whoever has it locks the file that TFFS_CHOICES_LOCK names, until its process
// ends.

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "choices.h"

namespace choices {
namespace {

// 0, or the errno value of what keeps this process from having the plugin.
int Lock(const char* name) {
  const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
}

void Init(TF_Filesystem* filesystem, Status status) {
  static const char* const name = std::getenv("TFFS_CHOICES_LOCK");
  static const int error = Lock(name);
  if (error != 0) {
    return TF_SetStatus(status, error == EWOULDBLOCK ? TF_UNAVAILABLE : TF_INTERNAL,
                        error == EWOULDBLOCK ? "another process holds the lock" : name);
  }
  before<Init>(filesystem, status);
}

void OneProcess(support::Tables& tables) {
  if (std::getenv("TFFS_CHOICES_LOCK") == nullptr) {
    std::fputs("one-process: TFFS_CHOICES_LOCK names no file\n", stderr);
    std::abort();
  }
  Take<&Ops::init, Init>(tables);
}

}  // namespace

std::vector<Choice> ProcessChoice() {
  return {{"one-process", "how many processes may have the plugin at a time", "one", OneProcess,
           false}};
}

}  // namespace choices
