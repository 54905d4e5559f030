#include "workers.h"

#include <mutex>
#include <set>

#include "support/forks.h"

namespace objectstore {
namespace {

// All employers.
class Everyone {
 public:
  static Everyone& Here() {
    static Everyone everyone;
    return everyone;
  }

  ~Everyone() {
    const std::lock_guard<std::mutex> lock(list_->mutex);
    for (Employer* one : list_->all) one->Stop();
  }

  void Add(Employer* one) {
    const std::lock_guard<std::mutex> lock(list_->mutex);
    list_->all.insert(one);
  }

  void Remove(Employer* one) {
    const std::lock_guard<std::mutex> lock(list_->mutex);
    list_->all.erase(one);
  }

 private:
  struct List {
    std::mutex mutex;  // a fork cannot wait for it: threads end while it is held
    std::set<Employer*> all;
    List* before = nullptr;  // the parent's
  };

  // A child of fork has none of the threads, and leaves the list as it is.
  void Renew() noexcept {
    auto* const list = new List;
    list->before = list_;
    list_ = list;
  }

  List* list_ = new List;  // for ever
  std::mutex nothing_;
  const support::ForkGuard forks_{nothing_, [this] { Renew(); }};
};

}  // namespace

void Employer::Enter() { Everyone::Here().Add(this); }

void Employer::Leave() { Everyone::Here().Remove(this); }

}  // namespace objectstore
