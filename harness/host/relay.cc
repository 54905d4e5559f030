#include "relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "wire.h"

namespace tffs {
namespace {

constexpr size_t kPiece = size_t{64} << 10;
// What waits to be written before no more is read for it.
constexpr size_t kMostWaiting = size_t{8} << 20;

void Close(int* descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

// Adds what there is to read at once. False at the end.
bool ReadInto(std::string& buffer, int descriptor) {
  const size_t before = buffer.size();
  buffer.resize(before + kPiece);
  const ssize_t got = read(descriptor, buffer.data() + before, kPiece);
  buffer.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// Writes what fits. False where nobody reads any more.
bool WriteFrom(std::string& buffer, int descriptor) {
  const ssize_t put = write(descriptor, buffer.data(), buffer.size());
  if (put > 0) buffer.erase(0, static_cast<size_t>(put));
  return put >= 0 || errno == EINTR || errno == EAGAIN;
}

// How long the frame at the start of `bytes` says that it is; nothing where that is not there.
std::optional<uint32_t> SizeAtStart(std::string_view bytes) {
  uint32_t length;
  if (bytes.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length;
}

// The length of the whole frame at the start of `bytes`, 0 where it is not all there.
size_t FrameAtStart(std::string_view bytes) {
  const auto length = SizeAtStart(bytes);
  if (!length || bytes.size() - sizeof *length < *length) return 0;
  return sizeof *length + *length;
}

void BlockChildSignal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(how, &set, nullptr);
}

class Relayed {
 public:
  Relayed(int in, int out) : in_(in), out_(out) { Tell(Reply("done").Integer(kWireVersion)); }

  std::optional<Ends> Run() {
    BlockChildSignal(SIG_BLOCK);
    // A host may end before it has read what it was sent.
    signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    children_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(out_, F_SETFL, fcntl(out_, F_GETFL) | O_NONBLOCK);
    while (true) {
      if (std::optional<Ends> ends = Obey()) return ends;
      if (!Step()) break;
    }
    Kill();
    // Whoever would inherit it might never wait for it.
    if (host_ > 0) waitpid(host_, nullptr, 0);
    return std::nullopt;
  }

 private:
  // Takes the requests that are there. Returns in a new host.
  std::optional<Ends> Obey() {
    size_t taken = 0;
    std::optional<Ends> ends;
    while (!ends && to_host_.size() < kMostWaiting) {
      const std::string_view rest = std::string_view(from_client_).substr(taken);
      const size_t size = FrameAtStart(rest);
      if (size == 0) break;
      taken += size;
      const std::string_view frame = rest.substr(0, size);
      Request request(frame.substr(sizeof(uint32_t)));
      const std::string_view command = request.TakeCommand();
      if (command == "start") {
        ends = Start();
      } else if (command == "abort") {
        if (host_ > 0) kill(host_, SIGABRT);
      } else if (command == "kill") {
        Kill();
      } else if (host_ > 0) {
        // What is meant for a host that has ended is lost with it; the client was told.
        to_host_ += frame;
      }
    }
    from_client_.erase(0, taken);
    return ends;
  }

  std::optional<Ends> Start() {
    int requests[2];
    int replies[2];
    int errors[2];
    if (host_ > 0 || pipe2(requests, O_CLOEXEC) != 0 || pipe2(replies, O_CLOEXEC) != 0 ||
        pipe2(errors, O_CLOEXEC) != 0 || (host_ = fork()) < 0) {
      Tell(Reply("bad").Bytes(std::string("no host can be started: ") + std::strerror(errno)));
      return std::nullopt;
    }
    if (host_ == 0) {
      for (const int end : {requests[1], replies[0], errors[0], children_, in_, out_}) close(end);
      BlockChildSignal(SIG_UNBLOCK);
      signal(SIGPIPE, SIG_DFL);
      setsid();
      return Ends{requests[0], replies[1], errors[1]};
    }
    for (const int end : {requests[0], replies[1], errors[1]}) close(end);
    request_ = requests[1];
    reply_ = replies[0];
    error_ = errors[0];
    for (const int end : {request_, reply_, error_}) fcntl(end, F_SETFL, O_NONBLOCK);
    return std::nullopt;
  }

  // Waits for something to do, and does it. False where the client is gone.
  bool Step() {
    const bool room = to_client_.size() < kMostWaiting;
    pollfd waiting[] = {
        // Its end is told at all times.
        {in_, static_cast<short>(to_host_.size() < kMostWaiting ? POLLIN : 0), 0},
        {to_client_.empty() ? -1 : out_, POLLOUT, 0},
        {children_, POLLIN, 0},
        {to_host_.empty() ? -1 : request_, POLLOUT, 0},
        {room ? reply_ : -1, POLLIN, 0},
        {room ? error_ : -1, POLLIN, 0},
    };
    if (poll(waiting, 6, -1) < 0) return errno == EINTR;
    if (waiting[0].revents != 0 && !ReadInto(from_client_, in_)) return false;
    if (waiting[1].revents != 0 && !WriteFrom(to_client_, out_)) return false;
    if (waiting[3].revents != 0 && !WriteFrom(to_host_, request_)) to_host_.clear();
    if (waiting[5].revents != 0 && !TakeOutput()) Close(&error_);
    if (waiting[4].revents != 0 && !TakeReplies()) Close(&reply_);
    if (waiting[2].revents != 0) TakeEnd();
    return true;
  }

  bool TakeOutput() {
    std::string text;
    const bool more = ReadInto(text, error_);
    if (!text.empty()) Tell(Reply("output").Bytes(text));
    return more;
  }

  // Only whole frames go on: what a host leaves half done when it ends would spoil the wire.
  bool TakeReplies() {
    const bool more = ReadInto(from_host_, reply_);
    size_t taken = 0;
    while (const size_t size = FrameAtStart(std::string_view(from_host_).substr(taken)))
      taken += size;
    to_client_.append(from_host_, 0, taken);
    from_host_.erase(0, taken);
    if (SizeAtStart(from_host_).value_or(0) > kLargestBody) {
      // The plugin wrote to the wire. Nothing that comes behind it can be told from it.
      Tell(Reply("garbled"));
      Kill();
      from_host_.clear();
      return false;
    }
    return more;
  }

  void TakeEnd() {
    signalfd_siginfo ignored;
    while (read(children_, &ignored, sizeof ignored) > 0) {
    }
    siginfo_t info = {};
    if (host_ <= 0 ||
        waitid(P_PID, static_cast<id_t>(host_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return;
    // The number of its group is its own until it is waited for.
    kill(-host_, SIGKILL);
    int status = 0;
    waitpid(host_, &status, 0);
    host_ = 0;
    Drain(&error_, &Relayed::TakeOutput);
    Drain(&reply_, &Relayed::TakeReplies);
    Close(&request_);
    to_host_.clear();
    from_host_.clear();
    Tell(Reply("ended")
             .Integer(WIFSIGNALED(status) ? WTERMSIG(status) : 0)
             .Integer(WIFSIGNALED(status) ? 0 : WEXITSTATUS(status)));
  }

  // What a host wrote before it ended; what it started may still hold the other end.
  void Drain(int* descriptor, bool (Relayed::*take)()) {
    pollfd there = {*descriptor, POLLIN, 0};
    while (*descriptor >= 0 && poll(&there, 1, 0) > 0 && (this->*take)()) {
    }
    Close(descriptor);
  }

  void Kill() {
    if (host_ <= 0) return;
    kill(-host_, SIGKILL);
    kill(host_, SIGKILL);
  }

  void Tell(Reply& reply) { to_client_ += reply.Frame(); }
  void Tell(Reply&& reply) { Tell(reply); }

  const int in_;
  const int out_;
  int children_ = -1;
  pid_t host_ = 0;
  int request_ = -1;
  int reply_ = -1;
  int error_ = -1;
  std::string from_client_;
  std::string to_client_;
  std::string from_host_;
  std::string to_host_;
};

}  // namespace

void TakeEnvironment(Request& request) {
  bool again = false;
  while (!request.AtEnd()) {
    const std::string name(request.TakeBytes());
    const std::string value(request.TakeBytes());
    const char* present = std::getenv(name.c_str());
    const bool early = name == "MALLOC_PERTURB_" || name == "GLIBC_TUNABLES";
    again = again || (early && (present == nullptr || value != present));
    setenv(name.c_str(), value.c_str(), 1);
  }
  // valgrind does not follow a program that starts another, and has an allocator of its own.
  const char* preloaded = std::getenv("LD_PRELOAD");
  const bool watched = preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr;
  if (again && !watched) execl("/proc/self/exe", "tffs-host", kRelay, nullptr);
}

std::optional<Ends> Relay(int in, int out) { return Relayed(in, out).Run(); }

}  // namespace tffs
