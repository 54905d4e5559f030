// Children of fork: what they say, and how they end.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_CHILD_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_CHILD_H_

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace unit {

// Whether all other threads of this process wait for something.
inline bool OthersWait() {
  const std::string own = std::to_string(gettid());
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // What follows the name, which is in brackets.
    const size_t state = line.rfind(") ") + 2;
    if (entry.path().filename() != own && state < line.size() && line[state] != 'S') return false;
  }
  return true;
}

// How many threads this process has.
inline auto Threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

// Ends a child, and says whether what it expects held. It ends by a signal: at an exit, a checker
// of leaks would count what is held by threads of the parent, which the child does not have.
[[noreturn]] inline void EndChild(bool held) {
  raise(held ? SIGKILL : SIGABRT);
  _exit(1);
}

// Whether what the child expects held; waits for its end.
inline bool HeldIn(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace unit

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_CHILD_H_
