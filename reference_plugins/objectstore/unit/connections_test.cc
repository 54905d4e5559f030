// The connections of a process: their limit, who waits for them, and what a child of fork does.

#include "connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "child.h"
#include "config.h"
#include "http.h"
#include "patience.h"
#include "table.h"
#include "test.h"

namespace objectstore {
namespace {

constexpr char kOrigin[] = "http://store";

TEST(ConnectionsAreUsedAgainWhereTheyWentBefore) {
  Connections connections(2);
  void* one = nullptr;
  void* other = nullptr;
  {
    const auto first = connections.Borrow("http://a");
    const auto second = connections.Borrow("http://b");
    one = first.handle();
    other = second.handle();
  }
  EXPECT_EQUAL(connections.Borrow("http://a").handle(), one);
  EXPECT_EQUAL(connections.Borrow("http://b").handle(), other);
}

// However long another one has it.
TEST(WhoWaitsForAConnectionGetsIt) {
  Connections connections(1);
  std::thread other;
  std::atomic<bool> has_it{false};
  {
    const auto busy = connections.Borrow(kOrigin);
    other = std::thread([&] {
      const auto lease = connections.Borrow(kOrigin);
      has_it = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }
  other.join();
  EXPECT_EQUAL(has_it.load(), true);
}

TEST(WhoWaitsForAConnectionGivesUpWithTheOp) {
  Connections connections(1);
  const auto busy = connections.Borrow(kOrigin);
  const Op patient;
  Wait(unit::Somebody(), 1, 0.01, 1, "");  // something failed, and there are 10 ms left
  EXPECT_FAILS(connections.Borrow(kOrigin), TF_UNAVAILABLE, "max_connections");
}

// Descriptors of this process that are sockets of the Internet.
int Sockets() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        address.ss_family == AF_INET) {
      ++count;
    }
  }
  return count;
}

// Takes one request, and answers when it is told. While it waits, its client asks for no memory: a
// child of fork could not have any under AddressSanitizer if another thread had just asked for
// some.
class SlowServer {
 public:
  SlowServer() {
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listening_, any, size) != 0 || listen(listening_, 1) != 0 ||
        getsockname(listening_, any, &size) != 0) {
      throw std::runtime_error("no port for a server");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  }
  ~SlowServer() {
    Forget();
    close(listening_);
  }
  const std::string& url() const { return url_; }

  // Waits for the request, and until its client waits for the answer.
  void Accept() {
    accepted_ = accept(listening_, nullptr, nullptr);
    std::string request(4096, ' ');
    if (recv(accepted_, request.data(), request.size(), 0) <= 0) {
      throw std::runtime_error("there is no request");
    }
    while (!unit::OthersWait()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void Answer() {
    const std::string answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    EXPECT_EQUAL(send(accepted_, answer.data(), answer.size(), 0), ssize_t(answer.size()));
    Forget();
  }

  void Forget() {
    if (accepted_ >= 0) close(std::exchange(accepted_, -1));
  }

 private:
  int listening_ = socket(AF_INET, SOCK_STREAM, 0);
  int accepted_ = -1;
  std::string url_;
};

TEST(AChildOfForkHasItsOwnConnections) {
  std::ifstream file(unit::ConfigPath());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::optional<Http> http(std::in_place, unit::Somebody(), Proxy(), 5, 30, 1);
  Request request;
  request.method = "GET";
  request.url = ParseConfig(unit::Somebody(), text).endpoint + "/bucket/key";
  const auto is_answered = [&] { return http->Send(request).status == 403; };  // it is not signed
  SlowServer slow;
  const int before = Sockets();
  EXPECT_EQUAL(is_answered(), true);
  EXPECT_EQUAL(Sockets(), before + 1);
  // Its one connection is busy in the parent; the child has no thread that could give it back.
  std::thread busy([&] {
    Request other;
    other.method = "GET";
    other.url = slow.url();
    EXPECT_EQUAL(http->Send(other).status, 204L);
  });
  slow.Accept();
  for (int k = 0; k < 5; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      slow.Forget();
      const bool clean = Sockets() == before;
      unit::EndChild(clean && is_answered() && Sockets() == before + 1);
    }
    EXPECT_EQUAL(unit::HeldIn(child), true);
  }
  slow.Answer();
  busy.join();
  EXPECT_EQUAL(is_answered(), true);
  http.reset();
  EXPECT_EQUAL(Sockets(), before);
}

}  // namespace
}  // namespace objectstore
