#include "server.h"

#include <dirent.h>
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tffs {
namespace {

constexpr int kSocket = STDIN_FILENO;

bool HasOneThread() {
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return false;
  int count = 0;
  while (const dirent* entry = readdir(threads)) count += entry->d_name[0] != '.';
  closedir(threads);
  return count == 1;
}

// A sanitizer keeps books about its process, which a bare clone would copy unseen.
bool IsSanitized() {
  for (const char* name : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"})
    if (dlsym(RTLD_DEFAULT, name) != nullptr) return true;
  return false;
}

// What the C library and the kernel know of the calling thread, and what `fork` would renew.
struct ThreadRecords {
  pid_t* tid = nullptr;
  robust_list_head* robust = nullptr;
  size_t robust_size = 0;

  bool Find() {
    return prctl(PR_GET_TID_ADDRESS, &tid) == 0 && tid != nullptr && *tid == getpid() &&
           syscall(SYS_get_robust_list, 0, &robust, &robust_size) == 0;
  }
};

// A fork whose child belongs to the client, so that the client can wait for it. `fork` cannot do
// that; its work for a process of one thread is done here.
pid_t ForkForClient(const ThreadRecords& records) {
  constexpr unsigned long kFlags =
      CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#if defined(__s390__) || defined(__cris__)
#error "clone takes its arguments in another order"
#elif defined(__x86_64__)
  const long pid = syscall(SYS_clone, kFlags, nullptr, nullptr, records.tid, 0UL);
#else
  const long pid = syscall(SYS_clone, kFlags, nullptr, nullptr, 0UL, records.tid);
#endif
  if (pid == 0) syscall(SYS_set_robust_list, records.robust, records.robust_size);
  return static_cast<pid_t>(pid);
}

// One message of the client: the descriptors of a host, and a number that the answer repeats. False
// at the end.
bool Receive(Ends* ends, int32_t* ticket) {
  iovec content = {ticket, sizeof *ticket};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Ends))];
  msghdr message = {};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(Ends)))
    return false;
  std::memcpy(ends, CMSG_DATA(header), sizeof *ends);
  return true;
}

bool Tell(int32_t ticket, int32_t number) {
  const int32_t answer[] = {ticket, number};
  return send(kSocket, answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer;
}

}  // namespace

std::optional<Ends> Serve() {
  ThreadRecords records;
  if (IsSanitized() || !HasOneThread() || !records.Find()) return std::nullopt;
  // Whatever the client left open is nobody's business here.
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
  Ends ends;
  int32_t ticket = 0;
  if (!Tell(ticket, getpid())) return std::nullopt;
  while (Receive(&ends, &ticket)) {
    const pid_t child = ForkForClient(records);
    if (child == 0) {
      close(kSocket);
      setsid();
      return ends;
    }
    const int32_t answer = child > 0 ? child : -errno;
    for (const int end : {ends.in, ends.out, ends.error}) close(end);
    if (!Tell(ticket, answer)) break;
  }
  return std::nullopt;
}

}  // namespace tffs
