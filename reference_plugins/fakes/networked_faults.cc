// Faults that show only where the network is in trouble. The files are those of this machine, but
// each op asks a service first, which is at TFFS_SERVICE: it takes `up` bytes and gives `down`.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>

#include "faults.h"
#include "path_ops.h"
#include "support/memory.h"

namespace fakes {
namespace {

// What the fault is; a right plugin has none.
std::string fault;
bool was_in_trouble = false;
constexpr size_t kAnswer = 100;  // bytes of an answer that has no content
constexpr long kPatience = 2;    // seconds

int Connected() {
  const std::string service = std::getenv("TFFS_SERVICE") ?: "127.0.0.1:1";
  const size_t colon = service.find(':');
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(service.c_str() + colon + 1)));
  inet_pton(AF_INET, service.substr(0, colon).c_str(), &address.sin_addr);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience = {fault == "waits-for-ever" ? 0 : kPatience, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return connection;
  close(connection);
  return -1;
}

bool Send(int connection, const std::string& data) {
  for (size_t done = 0; done < data.size();) {
    const ssize_t sent = send(connection, data.data() + done, data.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

// How many bytes of the answer came.
size_t Ask(size_t up, size_t down) {
  const int connection = Connected();
  if (connection < 0) return 0;
  char head[32];
  std::snprintf(head, sizeof head, "%15zu %15zu", up, down);
  size_t got = 0;
  if (Send(connection, head) && Send(connection, std::string(up, 'x'))) {
    std::string answer(down, '\0');
    ssize_t more = 1;
    while (got < down && more > 0) {
      more = recv(connection, answer.data() + got, down - got, 0);
      got += more > 0 ? static_cast<size_t>(more) : 0;
    }
  }
  if (got == down || fault != "leaks-connections") close(connection);
  return got;
}

// Whether all of the answer came; says so in `status` where it did not.
bool Asked(size_t up, size_t down, Status status) {
  const bool is_well = Ask(up, down) == down && !(fault == "stays-down" && was_in_trouble);
  if (is_well) return true;
  was_in_trouble = true;
  if (fault == "dies") std::abort();
  const bool is_none = fault == "not-found" || fault == "lists-nothing";
  const TF_Code code = is_none ? TF_NOT_FOUND : fault == "internal" ? TF_INTERNAL : TF_UNAVAILABLE;
  TF_SetStatus(status, code, "the service gives no full answer");
  return false;
}

template <auto Entry, typename Type = decltype(Entry)>
struct Behind;
template <auto Entry, typename R, typename... Args>
struct Behind<Entry, R (*Ops::*)(Args...)> {
  static R Call(Args... args) {
    if (Asked(0, kAnswer, std::get<sizeof...(Args) - 1>(std::tuple<Args...>(args...))))
      return (Right().*Entry)(args...);
    if constexpr (!std::is_void_v<R>) return static_cast<R>(std::is_same_v<R, bool> ? 0 : -1);
  }
};

// Whether an answer without content came, whatever is told of it.
bool Answered(size_t up = 0) { return Ask(up, kAnswer) == kAnswer; }

int64_t Read(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  if (fault == "cut-is-the-end") {
    const size_t got = Ask(0, n);
    const int64_t read = Reading().read(file, offset, got, buffer, status);
    if (got < n && Worked(status)) TF_SetStatus(status, TF_OUT_OF_RANGE, "the end");
    return read;
  }
  if (fault == "resumes-behind") {
    // What lacks is asked for, and given as if it were the beginning.
    const size_t got = Ask(0, n);
    if (got < n && !Asked(0, n - got, status)) return -1;
    return Reading().read(file, offset + got % n, n, buffer, status);
  }
  return Asked(0, n, status) ? Reading().read(file, offset, n, buffer, status) : -1;
}

void AppendsAnew(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  const bool is_known = Ask(0, kAnswer) == kAnswer;
  auto* open = is_known ? Right().new_appendable_file : Right().new_writable_file;
  open(filesystem, path, file, status);
}

void Append(Writer file, const char* buffer, size_t n, Status status) {
  if (fault == "appends-anew") {
    Writing().append(file, buffer, n, status);
    Asked(n, kAnswer, status);
    return;
  }
  // The service may have what it did not answer for.
  const bool is_again = fault == "retry-writes-twice" && !Answered(n);
  const bool is_well = fault == "retry-writes-twice" && !is_again;
  const int times = is_well ? 1 : !Asked(n, kAnswer, status) ? 0 : is_again ? 2 : 1;
  for (int k = 0; k < times; ++k) Writing().append(file, buffer, n, status);
  if (times == 0 && fault == "writes-are-lost") TF_SetStatus(status, TF_OK, "");
}

int ListsHalf(Filesystem filesystem, Path path, char*** entries, Status status) {
  const size_t got = Ask(0, kAnswer);
  const int count = Right().get_children(filesystem, path, entries, status);
  const int kept = count > 0 ? static_cast<int>(static_cast<size_t>(count) * got / kAnswer) : count;
  for (int k = kept; k < count; ++k) support::Free((*entries)[k]);
  return kept;
}

int ListsNothing(Filesystem, Path, char***, Status status) {
  TF_SetStatus(status, TF_UNIMPLEMENTED, "nothing is listed");
  return -1;
}

void RenamesInTwo(Filesystem filesystem, Path source, Path target, Status status) {
  // The source goes at once, and the target comes when the service knows of it.
  const std::string aside = std::string(source) + ".moving";
  Right().rename_file(filesystem, source, aside.c_str(), status);
  if (Worked(status) && Asked(0, kAnswer, status))
    Right().rename_file(filesystem, aside.c_str(), target, status);
}

// What is to be appended to, and how much of it did not come.
std::string appended;
off_t lost = 0;

void ForgetsToAppend(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  struct stat facts;
  lost = !Answered() && stat(path, &facts) == 0 ? facts.st_size : 0;
  appended = path;
  Right().new_appendable_file(filesystem, path, file, status);
}

void ClosesForgetting(Writer file, Status status) {
  Writing().close(file, status);
  if (lost == 0) return;
  std::ifstream whole(appended, std::ios::binary);
  whole.seekg(lost);
  const std::string rest{std::istreambuf_iterator<char>(whole), {}};
  std::ofstream(appended, std::ios::binary) << rest;
}

void RenamesHalf(Filesystem filesystem, Path source, Path target, Status status) {
  if (!Asked(0, kAnswer, status)) return;
  Right().copy_file(filesystem, source, target, status);
  if (Answered()) Right().delete_file(filesystem, source, status);
}

void ReplacesInTwo(Filesystem filesystem, Path source, Path target, Status status) {
  if (!Asked(0, kAnswer, status)) return;
  unlink(target);
  if (Asked(0, kAnswer, status)) Right().rename_file(filesystem, source, target, status);
}

void DeletesOrAsks(Filesystem filesystem, Path path, Status status) {
  if (Answered()) return Right().delete_file(filesystem, path, status);
  if (Asked(0, kAnswer, status)) TF_SetStatus(status, TF_OK, "");
}

void DeletesAgain(Filesystem filesystem, Path path, Status status) {
  Right().delete_file(filesystem, path, status);
  if (!Answered() && Asked(0, kAnswer, status)) Right().delete_file(filesystem, path, status);
}

void CopiesInPieces(Filesystem filesystem, Path source, Path target, Status status) {
  bool came[3] = {};
  const auto all_came = [&came] { return came[0] && came[1] && came[2]; };
  for (int round = 0; round < 2 && !all_came(); ++round) {
    for (bool& piece : came) piece = Answered();
    // Where nobody is there, it waits no longer.
    if (!came[0] && !came[1]) break;
  }
  if (!came[2]) return TF_SetStatus(status, TF_UNAVAILABLE, "the last piece did not come");
  Right().copy_file(filesystem, source, target, status);
  if (!all_came() && truncate(target, 1) != 0) TF_SetStatus(status, TF_INTERNAL, target);
}

void ExistsAtOnce(Filesystem filesystem, Path path, Status status) {
  if (Answered()) return Right().path_exists(filesystem, path, status);
  if (Asked(0, kAnswer, status)) TF_SetStatus(status, TF_NOT_FOUND, "the first answer counts");
}

// Asks for one path after the other.
bool AllExist(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  bool all = true;
  Status own = TF_NewStatus();
  for (int k = 0; k < count; ++k) {
    Status status = statuses == nullptr ? own : statuses[k];
    if (Asked(0, kAnswer, status)) {
      Right().path_exists(filesystem, paths[k], status);
    } else if (fault == "misses-all") {
      TF_SetStatus(status, TF_NOT_FOUND, "no answer");
    }
    all = Worked(status) && all;
  }
  TF_DeleteStatus(own);
  return all;
}

int ListsAPage(Filesystem filesystem, Path path, char*** entries, Status status) {
  return Asked(0, kAnswer, status) ? ListsHalf(filesystem, path, entries, status) : -1;
}

struct PutBehind {
  Ops& ops;

  template <auto Entry>
  void Add(const char*) {
    ops.*Entry = Behind<Entry>::Call;
  }
};

void Apply(support::Tables& tables, const std::string& name) {
  fault = name;
  Ops& ops = tables.filesystem;
  ForEachPathOp(PutBehind{ops});
  ops.paths_exist = AllExist;
  tables.random_access_file.read = Read;
  tables.writable_file.append = Append;
  if (name == "appends-anew") ops.new_appendable_file = AppendsAnew;
  if (name == "rename-in-two") ops.rename_file = RenamesInTwo;
  if (name == "rename-half") ops.rename_file = RenamesHalf;
  if (name == "replaces-in-two") ops.rename_file = ReplacesInTwo;
  if (name == "half-a-listing") ops.get_children = ListsHalf;
  if (name == "lists-nothing") ops.get_children = ListsNothing;
  if (name == "lists-a-page") ops.get_children = ListsAPage;
  if (name == "delete-forgets") ops.delete_file = DeletesOrAsks;
  if (name == "deletes-again") ops.delete_file = DeletesAgain;
  if (name == "last-code-counts") ops.copy_file = CopiesInPieces;
  if (name == "exists-at-once") ops.path_exists = ExistsAtOnce;
  if (name == "append-forgets") {
    ops.new_appendable_file = ForgetsToAppend;
    tables.writable_file.close = ClosesForgetting;
  }
}

}  // namespace

std::vector<Fault> NetworkedFaults() {
  std::vector<Fault> faults;
  const std::pair<const char*, const char*> table[] = {
      {"none", "asks a service before each op, and does no wrong"},
      {"not-found", "no answer means that nothing is there"},
      {"lists-nothing", "the same, and get_children answers UNIMPLEMENTED"},
      {"cut-is-the-end", "read takes an answer that is cut for the end of the file"},
      {"half-a-listing", "get_children gives the part of a listing that came"},
      {"waits-for-ever", "there is no limit for an answer"},
      {"internal", "no answer is INTERNAL"},
      {"stays-down", "once there was no answer, nobody is asked any more"},
      {"leaks-connections", "a connection on which no answer came stays open"},
      {"writes-are-lost", "append answers OK where the service did not get the bytes"},
      {"appends-anew", "no answer means that there is nothing to append to; the bytes are kept"},
      {"rename-in-two", "the target of a rename is made after its source is gone"},
      {"dies", "the process ends where no answer comes"},
      {"deletes-again",
       "is right: where the first of two deletions had no answer, it is NOT_FOUND"},
      {"append-forgets", "what did not come of a file is not there when it was appended to"},
      {"retry-writes-twice", "append that is tried again appends twice"},
      {"resumes-behind", "read that is tried again gives the rest as if it were the beginning"},
      {"rename-half", "rename_file answers OK where only the source's deletion had no answer"},
      {"replaces-in-two", "rename_file removes the target in a request of its own"},
      {"delete-forgets", "delete_file that is tried again deletes nothing"},
      {"exists-at-once", "path_exists is asked again, and NOT_FOUND as no answer was at first"},
      {"misses-all", "paths_exist takes no answer for a path that is not there"},
      {"last-code-counts",
       "copy_file tries its pieces again at once, and tells what the last one met"},
      {"lists-a-page", "get_children gives the part of a second page that came"},
  };
  for (const auto& [name, what] : table)
    faults.push_back({std::string("networked.") + name, what, "a network in trouble is told",
                      [name = std::string(name)](support::Tables& t) { Apply(t, name); }});
  return faults;
}

}  // namespace fakes
