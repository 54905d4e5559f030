#include "standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>

namespace tffs {
namespace {

int printed = -1;  // where it is read
std::atomic<int64_t> bytes = 0;
std::atomic<int> handing_on = 0;  // threads that are at it

void Pass(const char* chunk, ssize_t size) {
  for (ssize_t at = 0; at < size;) {
    const ssize_t put = write(STDERR_FILENO, chunk + at, static_cast<size_t>(size - at));
    if (put < 0 && errno != EINTR) return;
    if (put > 0) at += put;
  }
}

}  // namespace

int TakeStandardOutput(int lowest) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  printed = fcntl(ends[0], F_DUPFD_CLOEXEC, lowest);
  close(ends[0]);
  // Only the end that is read: a plugin that prints waits until it may.
  if (printed >= 0) fcntl(printed, F_SETFL, O_NONBLOCK);
  return printed;
}

void HandOnOutput() {
  char chunk[4096];
  ++handing_on;
  for (ssize_t got;
       (got = read(printed, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR);) {
    if (got < 0) continue;
    bytes += got;
    Pass(chunk, got);
  }
  --handing_on;
}

int64_t PrintedBytes() {
  std::fflush(stdout);
  HandOnOutput();
  // Another thread may have read what it did not count yet.
  while (handing_on != 0) std::this_thread::yield();
  return bytes;
}

}  // namespace tffs
