// The connections to one server: kept for the next request, shared by all threads, and limited.
//
// A connection is a handle of libcurl's with room for one. One thread at a time uses it, and
// performs its request by itself. curl_multi with a thread of its own would need a way from thread
// to thread for every byte and every exception, and a child of fork would have to start that thread
// again. What threads gain by one another they have here, too: names and TLS sessions are shared
// (CURLSH), and who finds all connections busy waits in line. The line costs little: 640 requests
// of 64 threads to the store of the tests took 1.2 s on 32 connections, and 1.4 s on 64.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONNECTIONS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONNECTIONS_H_

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/forks.h"

namespace objectstore {

class Connections {
 public:
  // At most `most` of them. Throws Failure where there is no libcurl.
  explicit Connections(int most);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // A connection for one request, which goes back when its life ends.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    void* handle() const { return handle_; }  // a CURL*, without options
    void GiveUp() { again_ = false; }         // nobody is to have this handle again

   private:
    friend class Connections;
    Lease(Connections* owner, void* handle, std::string origin)
        : owner_(owner), handle_(handle), origin_(std::move(origin)) {}

    Connections* const owner_;
    void* const handle_;
    std::string origin_;
    bool again_ = true;
  };

  // `origin` is where the request goes: a connection that went there before is preferred. Waits as
  // long as the op does, for a transfer that stands still is ended by Http. Throws Disconnected
  // (UNAVAILABLE) where none comes free in that time.
  Lease Borrow(std::string origin);

 private:
  struct Idle {
    void* handle;
    std::string origin;
  };
  struct Shared;     // what all handles know: names, and TLS sessions
  struct Callbacks;  // what libcurl calls

  void WaitInLine(std::unique_lock<std::mutex>* lock);
  void* NewHandle();
  void Return(void* handle, std::string origin, bool again) noexcept;
  void Forget() noexcept;

  const size_t most_;
  std::mutex mutex_;  // guards all below, and is never held while libcurl works
  std::shared_ptr<Shared> shared_;
  size_t busy_ = 0;
  std::vector<Idle> idle_;                    // the latest use last; with the busy ones `most_`
  std::list<std::condition_variable*> line_;  // who waits, the first one first
  std::set<int> sockets_;
  const support::ForkGuard forks_{mutex_, [this] { Forget(); }};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CONNECTIONS_H_
