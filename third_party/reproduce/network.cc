// What a released plugin answers when its network is in trouble, without the suite: this program is
// the proxy itself. plugin.h says how it is built and run; it is built with -pthread, and takes its
// further arguments from variables:
//
//   PROXY   "9001 9000": it listens at the first port, and leads to the second one. The plugin has
//           to be told the first one, in its variable or in the URI
//   SCHEME  s3, gs, az or http
//   OPS     such as "stat read"; all of them where it is not given
//   TROUBLE the number of one below, from 0; all of them where it is not given
//   WAIT    seconds after which an op is given up, 100 where it is not given
//   LENGTH  of each file, 51200 where it is not given; gs crashes where it reads 20,000 bytes
//
// Each op is performed in each trouble once, in a process of its own; another one then says what is
// there, in a good network: of each file its length and its first letter. `file` has nothing but
// `a`, `target` has `t`, and what is written has `w`. Both are written in a good network; of http
// `file` has to be there, and so has `d`, with `a` and `b` in it. append-later has the trouble only
// until the file is open.

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

// How many bytes are in a file.
size_t length_ = 51200;

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
      if (kTroubles[trouble].down == kNobody) good = false;
      if (most == 0 && from == 0) continue;  // Nobody hears it, and the connection stays.
      const long rest = most < 0 ? got : std::min(got, most - seen[from]);
      seen[from] += got;
      if (good && rest > 0) good = send(ends[1 - from].fd, bytes, rest, MSG_NOSIGNAL) == rest;
      good = good && rest == got;
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

// What an op gives that the plugin does not have.
const std::string kCores = "core does it by others";

template <typename Function, typename... Arguments>
std::string Called(Function* op, const Plugin& plugin, Arguments&&... arguments) {
  if (op == nullptr) return kCores;
  op(&plugin.filesystem, arguments...);
  return "";
}

std::string Number(int64_t number) { return "gives " + std::to_string(number); }

enum class Then { kClose, kFlush, kSync };

// Where it `recovers`, the network is good again once the file is open.
std::string Fill(const Plugin& plugin, const std::string& uri, Status& status, char letter,
                 Then then = Then::kClose, bool recovers = false) {
  TF_WritableFile file = {};
  auto* open = letter == 'b' ? plugin.ops->new_appendable_file : plugin.ops->new_writable_file;
  open(&plugin.filesystem, uri.c_str(), &file, status);
  if (file.plugin_file == nullptr) return "at the opening";
  if (recovers) *now_ = 0;
  const std::string content(length_, letter);
  plugin.writer->append(&file, content.data(), content.size(), status);
  if (TENSORFLOWS(TF_GetCode)(status) != TF_OK) return "at append";
  if (then == Then::kFlush) plugin.writer->flush(&file, status);
  if (then == Then::kSync) plugin.writer->sync(&file, status);
  if (TENSORFLOWS(TF_GetCode)(status) != TF_OK) return "before close";
  plugin.writer->close(&file, status);
  plugin.writer->cleanup(&file);
  return "at close";
}

std::string Bytes(const Plugin& plugin, Status& status) {
  TF_RandomAccessFile file = {};
  plugin.ops->new_random_access_file(&plugin.filesystem, (plugin / "file").c_str(), &file, status);
  if (file.plugin_file == nullptr) return "nothing was opened";
  std::string buffer(length_, '\0');
  const int64_t got = plugin.reader->read(&file, 0, length_, &buffer[0], status);
  return "gives " + std::to_string(got) + " bytes of " + std::to_string(length_) + ", " +
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
       auto* size = p.ops->get_file_size;
       return size == nullptr ? kCores : Number(size(&p.filesystem, (p / "file").c_str(), s));
     }},
    {"path_exists",
     [](const Plugin& p, Status& s) {
       return Called(p.ops->path_exists, p, (p / "file").c_str(), s);
     }},
    {"is_directory",
     [](const Plugin& p, Status& s) {
       auto* is = p.ops->is_directory;
       return is == nullptr ? kCores : Number(is(&p.filesystem, (p / "d").c_str(), s));
     }},
    {"write", [](const Plugin& p, Status& s) { return Fill(p, p / "written", s, 'w'); }},
    {"flush",
     [](const Plugin& p, Status& s) { return Fill(p, p / "written", s, 'w', Then::kFlush); }},
    {"sync",
     [](const Plugin& p, Status& s) { return Fill(p, p / "written", s, 'w', Then::kSync); }},
    {"write-over", [](const Plugin& p, Status& s) { return Fill(p, p / "target", s, 'w'); }},
    {"append", [](const Plugin& p, Status& s) { return Fill(p, p / "file", s, 'b'); }},
    {"append-later",
     [](const Plugin& p, Status& s) { return Fill(p, p / "file", s, 'b', Then::kClose, true); }},
    {"get_matching_paths",
     [](const Plugin& p, Status& s) {
       char** entries = nullptr;
       auto* match = p.ops->get_matching_paths;
       return match == nullptr ? kCores
                               : Number(match(&p.filesystem, (p / "d/?").c_str(), &entries, s));
     }},
    {"create_dir", [](const Plugin& p,
                      Status& s) { return Called(p.ops->create_dir, p, (p / "new").c_str(), s); }},
    {"delete_file",
     [](const Plugin& p, Status& s) {
       return Called(p.ops->delete_file, p, (p / "file").c_str(), s);
     }},
    {"delete_dir",
     [](const Plugin& p, Status& s) { return Called(p.ops->delete_dir, p, (p / "d").c_str(), s); }},
    {"rename",
     [](const Plugin& p, Status& s) {
       return Called(p.ops->rename_file, p, (p / "file").c_str(), (p / "target").c_str(), s);
     }},
    {"copy",
     [](const Plugin& p, Status& s) {
       return Called(p.ops->copy_file, p, (p / "file").c_str(), (p / "target").c_str(), s);
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
  for (const char* name : {"file", "target", "d/a", "d/b"}) {
    Status made;
    Fill(plugin, plugin / name, made, name[0] == 't' ? 't' : 'a');
  }
}

void Look(const Plugin& plugin) {
  std::string there;
  for (const char* name : {"file", "target", "written", "d/a", "d/b"}) {
    Status exists, sized, opened, status;
    const auto* ops = plugin.ops;
    ops->path_exists(&plugin.filesystem, (plugin / name).c_str(), exists);
    if (TENSORFLOWS(TF_GetCode)(exists) != TF_OK) continue;
    TF_FileStatistics facts = {};
    ops->stat(&plugin.filesystem, (plugin / name).c_str(), &facts, sized);
    if (TENSORFLOWS(TF_GetCode)(sized) != TF_OK) continue;
    char letter = ' ';
    TF_RandomAccessFile file = {};
    ops->new_random_access_file(&plugin.filesystem, (plugin / name).c_str(), &file, opened);
    if (file.plugin_file != nullptr) plugin.reader->read(&file, 0, 1, &letter, status);
    there += std::string(" ") + name + " " + std::to_string(facts.length) + " " + letter + ",";
  }
  std::printf("  then there are:%s\n", there.c_str());
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
  const int only = std::atoi(Given("TROUBLE", "-1").c_str());
  length_ = std::atoi(Given("LENGTH", "51200").c_str());
  now_ = static_cast<int*>(
      mmap(nullptr, sizeof *now_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *now_ = 0;
  const pid_t proxy = fork();
  if (proxy == 0) Proxy(port, service);
  for (const auto& [name, op] : kOps) {
    if (ops != "  " && ops.find(" " + name + " ") == std::string::npos) continue;
    for (int trouble = 0; trouble < static_cast<int>(std::size(kTroubles)); ++trouble) {
      if (only >= 0 && trouble != only) continue;
      const int seconds = std::atoi(Given("WAIT", "100").c_str());
      for (const bool looks : {false, true}) {
        *now_ = 0;
        const pid_t child = fork();
        if (child == 0) {
          alarm(seconds + 10);
          Plugin plugin = reproduce::Load(argc, argv, scheme);
          if (scheme != "http") plugin.uri += "/" + name + std::to_string(trouble);
          if (scheme != "http" && !looks) Prepare(plugin);
          alarm(seconds);
          if (looks) {
            Look(plugin);
          } else {
            Perform(plugin, name, op, trouble);
          }
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) std::printf("    ended by signal %d\n", WTERMSIG(status));
      }
    }
  }
  kill(proxy, SIGKILL);
  return 0;
}
