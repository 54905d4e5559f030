// One op in a process that is forked from the host, as programs of TensorFlow fork their workers.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "host.h"

namespace tffs {

Reply Host::Forked(Request& request) {
  const auto seconds = static_cast<unsigned>(request.TakeInteger());
  Request single(request.TakeBytes());
  const std::string command(single.TakeBytes());
  int ends[2];
  if (pipe(ends) != 0) throw Lacking("there are no more descriptors to be had");
  const pid_t child = fork();
  if (child < 0) throw Lacking("no process can be forked");
  if (child == 0) {
    process_ = getpid();
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    if (command == "quit") exit(EXIT_SUCCESS);
    const Reply reply = PerformGuarded(command, single);
    std::string_view rest = reply.Body();
    while (!rest.empty()) {
      const ssize_t put = write(ends[1], rest.data(), rest.size());
      if (put <= 0) break;
      rest.remove_prefix(static_cast<size_t>(put));
    }
    _exit(EXIT_SUCCESS);
  }
  close(ends[1]);
  std::string body;
  char chunk[4096];
  for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    body.append(chunk, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::move(Reply("done")
                       .Integer(WIFSIGNALED(status) ? WTERMSIG(status) : 0)
                       .Integer(WIFSIGNALED(status) ? 0 : WEXITSTATUS(status))
                       .Bytes(body));
}

}  // namespace tffs
