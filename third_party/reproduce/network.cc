// What a released plugin answers when its network is in trouble, without the suite and without
// toxiproxy: this program is the proxy itself. plugin.h says how it is built and run; it is built
// with -pthread, and takes its further arguments from variables:
//
//   PROXY   "9001 9000": it listens at the first port, and leads to the second one. The plugin has
//           to be told the first one, in its variable or in the URI
//   SCHEME  s3, gs, az or http
//   OPS     such as "stat read"; all of them where it is not given
//   WAIT    seconds after which an op is given up, 100 where it is not given
//
// Each op is performed in each trouble once, in a process of its own. `file` has 51,200 bytes, and
// is written in a good network; of http it has to be there, and so has `d`, with `a` and `b` in it.
// append-later has the trouble only until the file is open.

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <thread>

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Status;

namespace {

constexpr size_t kLength = 51200;

// So many bytes of each answer or request are let through; kNobody: no connection is taken.
struct Trouble {
  const char* name;
  long down, up;
};
constexpr long kAll = -1, kNobody = -2;
constexpr Trouble kTroubles[] = {
    {"none", kAll, kAll},
    {"the service is down", kNobody, kAll},
    {"answers end after 0 bytes", 0, kAll},
    {"answers end after 40 bytes", 40, kAll},
    {"answers end after 20000 bytes", 20000, kAll},
    {"requests end after 20000 bytes", kAll, 20000},
    {"the service says nothing", kAll, 0},
};

// Shared with the process that performs an op: which trouble there is.
int* now_ = nullptr;

int Listen(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) std::exit(2);
  listen(listener, 64);
  return listener;
}

void Lead(int peer, int service) {
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(service);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  bool gone = false, good = connect(other, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  int trouble = *now_;
  long seen[2] = {0, 0};
  char bytes[16384];
  while (good) {
    pollfd ends[] = {{peer, POLLIN, 0}, {gone ? -1 : other, POLLIN, 0}};
    poll(ends, 2, -1);
    if (*now_ != trouble) {
      trouble = *now_;
      seen[0] = seen[1] = 0;
    }
    for (int from = 0; from < 2 && good; ++from) {
      if (ends[from].revents == 0) continue;
      const long got = read(ends[from].fd, bytes, sizeof bytes);
      good = got > 0;
      if (!good && from == 1 && kTroubles[trouble].up == 0) gone = good = true;
      if (gone && from == 1)
        continue;  // A service gives up who asks nothing: that would be an answer.
      const long most = from == 0 ? kTroubles[trouble].up : kTroubles[trouble].down;
      if (most == 0 && from == 0) continue;  // Nobody hears it, and the connection stays.
      const long rest = most < 0 ? got : std::min(got, most - seen[from]);
      seen[from] += got;
      if (good && rest > 0) good = send(ends[1 - from].fd, bytes, rest, MSG_NOSIGNAL) == rest;
      good = good && rest == got && kTroubles[trouble].down != kNobody;
    }
  }
  close(other);
  close(peer);
}

void Proxy(int port, int service) {
  int listener = -1;
  for (;;) {
    const bool open = kTroubles[*now_].down != kNobody;
    if (open && listener < 0) listener = Listen(port);
    if (!open && listener >= 0) close(listener), listener = -1;
    pollfd end = {listener, POLLIN, 0};
    if (poll(&end, 1, 5) > 0)
      std::thread(Lead, accept(listener, nullptr, nullptr), service).detach();
  }
}

// What an op gave beside its status.
using Op = std::function<std::string(const Plugin&, Status&)>;

std::string Number(int64_t number) { return "gives " + std::to_string(number); }

// Where it `recovers`, the network is good again once the file is open.
std::string Fill(const Plugin& plugin, const std::string& uri, Status& status, bool appends,
                 bool recovers = false) {
  TF_WritableFile file = {};
  auto* open = appends ? plugin.ops->new_appendable_file : plugin.ops->new_writable_file;
  open(&plugin.filesystem, uri.c_str(), &file, status);
  if (file.plugin_file == nullptr) return "at the opening";
  if (recovers) *now_ = 0;
  const std::string content(kLength, appends ? 'b' : 'a');
  plugin.writer->append(&file, content.data(), content.size(), status);
  if (TENSORFLOWS(TF_GetCode)(status) != TF_OK) return "at append";
  plugin.writer->close(&file, status);
  plugin.writer->cleanup(&file);
  return "at close";
}

std::string Bytes(const Plugin& plugin, Status& status) {
  TF_RandomAccessFile file = {};
  plugin.ops->new_random_access_file(&plugin.filesystem, (plugin / "file").c_str(), &file, status);
  if (file.plugin_file == nullptr) return "nothing was opened";
  std::string buffer(kLength, '\0');
  const int64_t got = plugin.reader->read(&file, 0, kLength, &buffer[0], status);
  return "gives " + std::to_string(got) + " bytes of " + std::to_string(kLength) + ", " +
         std::to_string(std::count(buffer.begin(), buffer.end(), 'a')) + " of them right";
}

std::string Children(const Plugin& plugin, Status& status) {
  char** entries = nullptr;
  return Number(
      plugin.ops->get_children(&plugin.filesystem, (plugin / "d").c_str(), &entries, status));
}

std::string Facts(const Plugin& plugin, Status& status) {
  TF_FileStatistics facts = {-2, -2, false};
  plugin.ops->stat(&plugin.filesystem, (plugin / "file").c_str(), &facts, status);
  return "length " + std::to_string(facts.length);
}

const std::map<std::string, Op> kOps = {
    {"stat", Facts},
    {"read", Bytes},
    {"get_children", Children},
    {"get_file_size",
     [](const Plugin& p, Status& s) {
       return Number(p.ops->get_file_size(&p.filesystem, (p / "file").c_str(), s));
     }},
    {"path_exists",
     [](const Plugin& p, Status& s) {
       p.ops->path_exists(&p.filesystem, (p / "file").c_str(), s);
       return "";
     }},
    {"is_directory",
     [](const Plugin& p, Status& s) {
       return Number(p.ops->is_directory(&p.filesystem, (p / "d").c_str(), s));
     }},
    {"write", [](const Plugin& p, Status& s) { return Fill(p, p / "written", s, false); }},
    {"write-over", [](const Plugin& p, Status& s) { return Fill(p, p / "target", s, false); }},
    {"append", [](const Plugin& p, Status& s) { return Fill(p, p / "file", s, true); }},
    {"append-later",
     [](const Plugin& p, Status& s) {
       const std::string where = Fill(p, p / "file", s, true, true);
       int64_t length = p.ops->get_file_size(&p.filesystem, (p / "file").c_str(), s);
       return where + ", file has " + std::to_string(length) + " bytes";
     }},
    {"create_dir",
     [](const Plugin& p, Status& s) {
       p.ops->create_dir(&p.filesystem, (p / "new").c_str(), s);
       return "";
     }},
    {"delete_file",
     [](const Plugin& p, Status& s) {
       p.ops->delete_file(&p.filesystem, (p / "file").c_str(), s);
       return "";
     }},
    {"delete_dir",
     [](const Plugin& p, Status& s) {
       p.ops->delete_dir(&p.filesystem, (p / "d").c_str(), s);
       return "";
     }},
    {"rename",
     [](const Plugin& p, Status& s) {
       p.ops->rename_file(&p.filesystem, (p / "file").c_str(), (p / "target").c_str(), s);
       return "";
     }},
    {"copy",
     [](const Plugin& p, Status& s) {
       p.ops->copy_file(&p.filesystem, (p / "file").c_str(), (p / "target").c_str(), s);
       return "";
     }},
};

void Perform(const Plugin& plugin, const std::string& name, const Op& op, int trouble) {
  *now_ = trouble;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Status status;
  const auto begun = std::chrono::steady_clock::now();
  std::printf("%s, %s\n", name.c_str(), kTroubles[trouble].name);
  const std::string gave = op(plugin, status);
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  status.Print("  after " + std::to_string(static_cast<int>(took + 0.5)) + " s, " + gave);
}

void Prepare(const Plugin& plugin) {
  Status status, made;
  Fill(plugin, plugin / "file", status, false);
  for (const char* name : {"target", "d/a", "d/b"}) Fill(plugin, plugin / name, made, false);
}

std::string Given(const char* name, const char* usual) {
  const char* given = std::getenv(name);
  return given == nullptr ? usual : given;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int port = 0, service = 0;
  if (std::sscanf(Given("PROXY", "").c_str(), "%d %d", &port, &service) != 2) return 2;
  const std::string scheme = Given("SCHEME", "s3"), ops = " " + Given("OPS", "") + " ";
  now_ = static_cast<int*>(
      mmap(nullptr, sizeof *now_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *now_ = 0;
  const pid_t proxy = fork();
  if (proxy == 0) Proxy(port, service);
  for (const auto& [name, op] : kOps) {
    if (ops != "  " && ops.find(" " + name + " ") == std::string::npos) continue;
    for (int trouble = 0; trouble < static_cast<int>(std::size(kTroubles)); ++trouble) {
      *now_ = 0;
      const pid_t child = fork();
      if (child == 0) {
        alarm(std::atoi(Given("WAIT", "100").c_str()) + 10);
        Plugin plugin = reproduce::Load(argc, argv, scheme);
        if (scheme != "http") {
          plugin.uri += "/" + name + std::to_string(trouble);
          Prepare(plugin);
        }
        alarm(std::atoi(Given("WAIT", "100").c_str()));
        Perform(plugin, name, op, trouble);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFSIGNALED(status)) std::printf("    ended by signal %d\n", WTERMSIG(status));
    }
  }
  kill(proxy, SIGKILL);
  return 0;
}
