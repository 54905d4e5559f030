#include "watchdog.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "descendants.h"
#include "standard_output.h"

namespace tffs {
namespace {

[[noreturn]] void Watch(int wire_in, int printed) {
  // Nothing is asked of the wire, so only the end of the other side wakes the thread.
  pollfd ends[] = {{wire_in, 0, 0}, {printed, POLLIN, 0}};
  while (ends[0].revents == 0) {
    if (poll(ends, 2, -1) < 0 && errno != EINTR) break;
    if ((ends[1].revents & POLLIN) != 0) HandOnOutput();
    // Where all ends are closed that could be printed to, there is nothing left to wait for.
    if ((ends[1].revents & ~POLLIN) != 0) ends[1].fd = -1;
  }
  EndDescendants();
  // What the plugin started goes too, where the group is ours to end.
  if (getpgrp() == getpid()) kill(0, SIGKILL);
  _exit(0);
}

}  // namespace

void StartWatchdog(int wire_in, int printed) {
  // Signals of the process are for the thread that runs the plugin.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread(Watch, wire_in, printed).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace tffs
