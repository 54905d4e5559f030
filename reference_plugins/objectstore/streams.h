// The objects that grow: who reads the same at the same time shares one transfer.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_STREAMS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_STREAMS_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "growing.h"
#include "support/forks.h"

namespace objectstore {

class Streams {
 public:
  // At most `most` grow at the same time: each is a thread, a connection and a file.
  explicit Streams(int most = 64) : most_(most) {}

  // What grows under `key`, or what `make` makes. NULL where as many transfers are under way as may
  // be, or what came under this key was wrong before: then it is to be fetched by other means.
  // Throws what `make` throws.
  std::shared_ptr<Growing> Get(const std::string& key,
                               const std::function<std::shared_ptr<Growing>()>& make);

  // From now on nothing grows under `key`.
  void Distrust(const std::string& key);

  // What grows now is found by nobody any more.
  void Clear();

 private:
  struct Entry {
    std::weak_ptr<Growing> growing;
    std::shared_ptr<const Growing::State> state;
  };

  // In a child of fork nothing grows, and nobody makes anything.
  void Forget() noexcept;

  const int most_;
  std::unique_ptr<std::mutex> making_ = std::make_unique<std::mutex>();  // taken first
  std::mutex mutex_;  // guards all below, and is never held while something is made
  std::map<std::string, Entry> entries_;
  std::deque<std::string> distrusted_;  // the latest first
  const support::ForkGuard forks_{mutex_, [this] { Forget(); }};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_STREAMS_H_
