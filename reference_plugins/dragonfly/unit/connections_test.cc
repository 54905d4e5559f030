// The connections of a process: their limit, who waits for them, and what a child of fork does.

#include "connections.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config.h"
#include "http.h"
#include "patience.h"
#include "test.h"

namespace dragonfly {
namespace {

constexpr int kPatience = 60;  // seconds: no test waits as long
constexpr char kOrigin[] = "http://store";

TEST(ConnectionsAreUsedAgainWhereTheyWentBefore) {
  Connections connections(2, kPatience);
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

TEST(ConnectionsHaveALimit) {
  constexpr size_t kMost = 3;
  Connections connections(kMost, kPatience);
  std::atomic<size_t> busy{0};
  std::atomic<size_t> most{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 12; ++k) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto lease = connections.Borrow(kOrigin);
        const size_t now = ++busy;
        for (size_t known = most; known < now && !most.compare_exchange_weak(known, now);) {
        }
        std::this_thread::yield();
        --busy;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQUAL(most.load() <= kMost, true);
}

TEST(WhoWaitsForAConnectionGivesUpInTime) {
  Connections connections(1, 1);
  const auto busy = connections.Borrow(kOrigin);
  EXPECT_FAILS(connections.Borrow(kOrigin), TF_UNAVAILABLE, "max_connections");
}

TEST(WhoWaitsForAConnectionGivesUpWithTheOp) {
  Connections connections(1, kPatience);
  const auto busy = connections.Borrow(kOrigin);
  const Op patient;
  Wait(1, 0.01, 1);  // something failed, and there are 10 ms left
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

TEST(AChildOfForkHasItsOwnConnections) {
  const char* path = std::getenv("DRAGONFLY_UNIT_CONFIG");
  if (path == nullptr) throw std::runtime_error("DRAGONFLY_UNIT_CONFIG is not set");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::optional<Http> http(std::in_place, "", 5, 30, 1);
  Request request;
  request.method = "GET";
  request.url = ParseConfig(text).endpoint + "/bucket/key";
  const auto is_answered = [&] { return http->Send(request).status == 403; };  // it is not signed
  const int before = Sockets();
  EXPECT_EQUAL(is_answered(), true);
  EXPECT_EQUAL(Sockets(), before + 1);
  // Its one connection is busy in the parent; the child has no thread that could give it back.
  std::atomic<bool> forked{false};
  std::thread busy([&] {
    while (!forked) is_answered();
  });
  for (int k = 0; k < 5; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      const bool clean = Sockets() == before;
      _exit(clean && is_answered() && Sockets() == before + 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQUAL(status, 0);
  }
  forked = true;
  busy.join();
  EXPECT_EQUAL(is_answered(), true);
  http.reset();
  EXPECT_EQUAL(Sockets(), before);
}

}  // namespace
}  // namespace dragonfly
