// Objects that were fetched, as files without a name. A version of an object never changes, so what
// is here is never out of date; it is only a matter of room.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CACHE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CACHE_H_

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

namespace objectstore {

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

  // Counts `bytes` that come as if they were kept, as long as what it gives lives.
  std::shared_ptr<void> Reserve(uint64_t bytes);

  // Lets go of what nobody reads and was not used for longest; false where there is no such thing.
  bool Evict();

  // Forgets everything that nobody reads.
  void Clear();

 private:
  struct Kept {
    std::string key;
    Content content;
  };

  // What goes. It is closed when the lock is free: of large files that takes its time.
  using Dropped = std::list<Kept>;

  // These under the lock.
  Content Known(const std::string& key);
  void Keep(const std::string& key, Content content, Dropped* dropped);
  void Drop(std::list<Kept>::iterator one, Dropped* dropped);
  void MakeFit(Dropped* dropped);

  const uint64_t most_;
  mutable std::mutex mutex_;  // guards all below, and is never held while something is fetched
  uint64_t bytes_ = 0;
  uint64_t coming_ = 0;
  uint64_t cleared_ = 0;
  std::list<Kept> kept_;  // the latest use first
  std::map<std::string, std::list<Kept>::iterator> by_key_;
  std::map<std::string, std::shared_future<Content>> under_way_;
  const support::ForkGuard forks_{mutex_, [this] {  // nobody fetches there
                                    under_way_.clear();
                                    coming_ = 0;
                                  }};
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_CACHE_H_
