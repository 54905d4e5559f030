#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tffs {
namespace {

// So many generations of descendants are ended.
constexpr int kMostRounds = 100;

// Calls `found` with the number of each child that `task` of this process has. Nothing in here asks
// for memory.
template <typename Found>
void ForEachChildOf(const char* task, Found found) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%s/children", task);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char chunk[512];
  pid_t number = 0;
  for (ssize_t got; (got = read(file, chunk, sizeof chunk)) > 0;) {
    for (ssize_t k = 0; k < got; ++k) {
      if (chunk[k] >= '0' && chunk[k] <= '9') {
        number = number * 10 + (chunk[k] - '0');
      } else if (number != 0) {
        found(number);
        number = 0;
      }
    }
  }
  close(file);
}

}  // namespace

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

int64_t Children() {
  int64_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return count;
  while (const dirent* task = readdir(tasks))
    if (task->d_name[0] != '.') ForEachChildOf(task->d_name, [&](pid_t) { ++count; });
  closedir(tasks);
  return count;
}

void EndDescendants() {
  char main_thread[16];
  std::snprintf(main_thread, sizeof main_thread, "%d", static_cast<int>(getpid()));
  // Whose parent has just ended turns up in the next round.
  for (int round = 0; round < kMostRounds; ++round) {
    bool any = false;
    ForEachChildOf(main_thread, [&](pid_t child) {
      any = true;
      kill(child, SIGKILL);
      while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
      }
    });
    if (!any) return;
  }
}

}  // namespace tffs
