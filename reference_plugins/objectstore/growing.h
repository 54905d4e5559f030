// An object that is read while it comes. A thread of its own fetches it into a spool; readers wait
// for no more than they ask for. The last byte is handed out when all of them are compared with the
// object's checksum, so whoever reads an object to its end got right bytes, or an error.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_GROWING_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_GROWING_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "cache.h"
#include "patience.h"
#include "readable.h"
#include "sink.h"
#include "spool.h"
#include "support/forks.h"
#include "workers.h"

namespace objectstore {

class Growing : public Readable,
                private Audience,
                private Employer,
                public std::enable_shared_from_this<Growing> {
 public:
  // Fills the sink with what it lacks. Throws Changed, Altered, and Failure.
  using Fill = std::function<void(Sink*)>;
  // Gets the whole content.
  using Keep = std::function<void(Content)>;

  // What others may know of it without keeping it.
  struct State {
    std::atomic<bool> is_running{false};
    std::atomic<bool> is_lost{false};  // it will never be whole
  };

  // Begins to fetch `size` bytes, at least one, into `spool`. Both functions are called by the
  // thread. Throws Failure where there is no thread.
  Growing(std::shared_ptr<Spool> spool, uint64_t size, Checksum checksum, Fill fill, Keep keep);

  // Ends the transfer.
  ~Growing() override;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  // Waits for the bytes. Throws what ended the transfer where they did not come; those that did can
  // be read all the same, unless they were found to be wrong. A transfer that may fare better is
  // begun again by the next who needs what is missing.
  size_t Read(uint64_t offset, size_t n, char* buffer) const override;

  // Waits for all of it.
  Content Whole() const;

  std::shared_ptr<const State> state() const { return state_; }

  // Ends the transfer, for good.
  void Stop() override;

 private:
  // Waits until the bytes in front of `end` may be read. `reads` says that they will be.
  void Await(uint64_t end, bool reads) const;

  bool May(uint64_t end) const;  // under the lock
  void Start() const;            // under the lock
  void Run() noexcept;           // the thread
  void Abandon() noexcept;       // in a child of fork, under the lock
  void Grew() override;
  bool MayForget() override;

  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  const std::shared_ptr<Spool> spool_;
  const uint64_t size_;
  const Fill fill_;
  const Keep keep_;
  Sink sink_;  // the thread's, while there is one
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  Recall recall_;
  const std::function<void()> run_ = [this] { Run(); };
  std::atomic<bool> is_whole_{false};
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable changed_;
  mutable uint64_t awaited_ = kNobody;  // the least end of those that are waited for
  mutable std::thread thread_;
  mutable std::exception_ptr failure_;
  mutable bool is_read_ = false;
  bool is_forgotten_ = false;  // until more comes
  bool is_altered_ = false;
  const support::ForkGuard forks_{mutex_, [this] { Abandon(); }};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_GROWING_H_
