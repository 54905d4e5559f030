#include "watchdog.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace tffs {
namespace {

[[noreturn]] void Watch(int wire_in) {
  // Nothing is asked for, so only the end of the other side wakes the thread.
  pollfd wire = {wire_in, 0, 0};
  while (poll(&wire, 1, -1) < 0 && errno == EINTR) {
  }
  // What the plugin started goes too, where the group is ours to end.
  if (getpgrp() == getpid()) kill(0, SIGKILL);
  _exit(0);
}

}  // namespace

void StartWatchdog(int wire_in) {
  // Signals of the process are for the thread that runs the plugin.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread(Watch, wire_in).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace tffs
