#include "connections.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "curl.h"
#include "http.h"
#include "patience.h"

namespace objectstore {

// libcurl says which of its parts it is about to use.
struct Connections::Shared {
  Shared() : handle(curl().share_init()) {
    if (handle == nullptr) throw std::bad_alloc();
    curl().share_setopt(handle, CURLSHOPT_LOCKFUNC, Lock);
    curl().share_setopt(handle, CURLSHOPT_UNLOCKFUNC, Unlock);
    curl().share_setopt(handle, CURLSHOPT_USERDATA, this);
    curl().share_setopt(handle, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl().share_setopt(handle, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
  ~Shared() { curl().share_cleanup(handle); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  static void Lock(CURL*, curl_lock_data part, curl_lock_access, void* shared) {
    static_cast<Shared*>(shared)->mutexes[static_cast<size_t>(part)].lock();
  }
  static void Unlock(CURL*, curl_lock_data part, void* shared) {
    static_cast<Shared*>(shared)->mutexes[static_cast<size_t>(part)].unlock();
  }

  CURLSH* handle;
  std::array<std::mutex, CURL_LOCK_DATA_LAST> mutexes;
};

// The sockets are counted so that a child of fork can close its copies of them.
struct Connections::Callbacks {
  static curl_socket_t Open(void* argument, curlsocktype, curl_sockaddr* address) noexcept {
    const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made < 0) return CURL_SOCKET_BAD;
    auto* connections = static_cast<Connections*>(argument);
    const std::lock_guard<std::mutex> lock(connections->mutex_);
    try {
      connections->sockets_.insert(made);
    } catch (const std::bad_alloc&) {
      close(made);
      return CURL_SOCKET_BAD;
    }
    return made;
  }

  static int Close(void* argument, curl_socket_t socket) noexcept {
    auto* connections = static_cast<Connections*>(argument);
    {
      const std::lock_guard<std::mutex> lock(connections->mutex_);
      connections->sockets_.erase(socket);
    }
    return close(socket);
  }
};

Connections::Connections(int most) : most_(static_cast<size_t>(most)) {
  idle_.reserve(most_);  // so that Return, which must not fail, has nothing to allocate
  shared_ = std::make_shared<Shared>();
}

Connections::~Connections() {
  for (const Idle& one : idle_) curl().easy_cleanup(one.handle);
}

Connections::Lease::~Lease() { owner_->Return(handle_, std::move(origin_), again_); }

Connections::Lease Connections::Borrow(std::string origin) {
  void* handle = nullptr;
  void* surplus = nullptr;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    WaitInLine(&lock);
    const auto same = std::find_if(idle_.rbegin(), idle_.rend(),
                                   [&](const Idle& one) { return one.origin == origin; });
    if (same != idle_.rend()) {
      handle = same->handle;
      idle_.erase(std::next(same).base());
    } else if (busy_ + idle_.size() == most_) {
      surplus = idle_.front().handle;
      idle_.erase(idle_.begin());
    }
    ++busy_;
  }
  if (surplus != nullptr) curl().easy_cleanup(surplus);
  if (handle == nullptr) handle = NewHandle();
  curl().easy_setopt(handle, CURLOPT_MAXCONNECTS, 1L);
  curl().easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, Callbacks::Open);
  curl().easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
  curl().easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, Callbacks::Close);
  curl().easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, this);
  return {this, handle, std::move(origin)};
}

void Connections::WaitInLine(std::unique_lock<std::mutex>* lock) {
  if (line_.empty() && busy_ < most_) return;
  std::condition_variable turn;
  line_.push_back(&turn);
  const auto place = std::prev(line_.end());
  const auto next_in_line = [this](size_t busy) {
    if (!line_.empty() && busy < most_) line_.front()->notify_one();
  };
  constexpr std::chrono::milliseconds kLook(250);  // whether the op was recalled
  while (line_.front() != &turn || busy_ >= most_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= Deadline() || Recalled()) {
      line_.erase(place);
      next_in_line(busy_);
      throw Disconnected(TF_UNAVAILABLE, "all connections (max_connections) are busy", false, true);
    }
    turn.wait_until(*lock, std::min(Deadline(), now + kLook));
  }
  line_.erase(place);
  next_in_line(busy_ + 1);
}

void* Connections::NewHandle() {
  std::shared_ptr<Shared> shared;
  CURL* handle = nullptr;
  try {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (shared_ == nullptr) shared_ = std::make_shared<Shared>();  // after a fork
      shared = shared_;
    }
    handle = curl().easy_init();
    if (handle == nullptr) throw std::bad_alloc();
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --busy_;
    if (!line_.empty()) line_.front()->notify_one();
    throw;
  }
  curl().easy_setopt(handle, CURLOPT_SHARE, shared->handle);  // resets leave it
  return handle;
}

void Connections::Return(void* handle, std::string origin, bool again) noexcept {
  curl().easy_reset(handle);  // its connection stays
  if (!again) curl().easy_cleanup(handle);
  const std::lock_guard<std::mutex> lock(mutex_);
  --busy_;
  if (again) idle_.push_back({handle, std::move(origin)});
  if (!line_.empty()) line_.front()->notify_one();
}

// A child of fork has copies of its parent's sockets, and two who talk on one connection get each
// other's answers. So it closes the copies, and begins with none. The parent notices nothing: what
// TLS says at the end of a connection is not said. Handles are left as they are, for the child
// cannot end in peace what threads did that it does not have.
void Connections::Forget() noexcept {
  for (const int socket : sockets_) close(socket);
  sockets_.clear();
  idle_.clear();
  line_.clear();
  busy_ = 0;
  // Another thread of the parent may have had one of its locks, for ever now.
  new std::shared_ptr<Shared>(std::move(shared_));
}

}  // namespace objectstore
