// What a plugin is to its process. With one-process it is like a plugin with a port or a journal of
// its own, and locks the file that TFFS_CHOICES_LOCK names until its process ends.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

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

void WorkAside(support::Tables&) {
  static bool is_started = false;
  if (std::exchange(is_started, true)) return;
  std::thread([] {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
      const std::string allocated(1 << 16, ' ');
      close(opened);
    }
  }).detach();
}

}  // namespace

std::vector<Choice> ProcessChoice() {
  return {
      {"one-process", "how many processes may have the plugin at a time", "one", OneProcess, false},
      {"background-thread", "whether a plugin has threads of its own",
       "one opens, allocates and gives back, each millisecond", WorkAside, false}};
}

}  // namespace choices
