// Objects that were fetched, as files without a name. A version of an object never changes, so what
// is here is never out of date; it is only a matter of room.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_CACHE_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_CACHE_H_

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "spool.h"
#include "support/forks.h"

namespace dragonfly {

using Content = std::shared_ptr<const Spool>;

class Cache {
 public:
  // Keeps at most `most` bytes, and no more files than a process can spare descriptors. What
  // readers hold beyond that stays until they let go of it.
  explicit Cache(uint64_t most) : most_(most) {}

  // The content kept under `key`, or what `fetch` gives. Of several who ask for the same at the
  // same time one fetches, and all get what it got, or its failure. Throws what `fetch` throws.
  Content Get(const std::string& key, const std::function<Content()>& fetch);

  // The content kept under `key`, or nothing.
  Content Find(const std::string& key);

  // How often it was cleared.
  uint64_t cleared() const;

  // Keeps what was fetched since it was cleared for this time.
  void Put(const std::string& key, Content content, uint64_t cleared);

  // Forgets everything that nobody reads.
  void Clear();

 private:
  struct Kept {
    std::string key;
    Content content;
  };

  // These two under the lock.
  Content Known(const std::string& key);
  void Keep(const std::string& key, Content content);

  const uint64_t most_;
  mutable std::mutex mutex_;  // guards all below, and is never held while something is fetched
  uint64_t bytes_ = 0;
  uint64_t cleared_ = 0;
  std::list<Kept> kept_;  // the latest use first
  std::map<std::string, std::list<Kept>::iterator> by_key_;
  std::map<std::string, std::shared_future<Content>> under_way_;
  const support::ForkGuard forks_{mutex_, [this] { under_way_.clear(); }};  // nobody fetches there
};

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_CACHE_H_
