// The keys that requests are signed with, replaced before they expire.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_KEYCHAIN_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_KEYCHAIN_H_

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>

#include "config.h"
#include "credential_sources.h"
#include "support/forks.h"

namespace objectstore {

using Identity = std::shared_ptr<const Credentials>;

class Keychain {
 public:
  // Gives the seconds since the epoch.
  using Clock = std::function<double()>;

  // `first` is what `source` gave already; the log is that of `plugin`.
  Keychain(Plugin plugin, Source source, const Grant& first, Clock clock = Now);

  // Whether others may come after these.
  bool renews() const { return source_.renews; }

  // Identity to sign with. Some time before they expire one thread asks for new ones, and the
  // others go on with the old. When they have expired all wait for that thread. Throws Failure
  // where there are none then.
  Identity Current();

  // The keys that take the place of `refused`, which a store no longer takes; `refused` itself
  // where the source has no others. Throws Failure where it cannot be asked.
  Identity Instead(const Identity& refused);

  static double Now();

 private:
  void Take(const Grant& grant, double now);
  void Renew(std::unique_lock<std::mutex>* lock);
  Identity Await(std::unique_lock<std::mutex>* lock, const Identity& old);

  // In a child of fork nobody asks. Threads that are not there wait for `changed_`, which would
  // wait for them.
  void Forget() noexcept;

  const Plugin plugin_;
  const Source source_;
  const Clock clock_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  Identity keys_;
  double expires_ = 0;          // infinity: never
  double renew_at_ = 0;         // when to ask, though the keys are still good
  double not_before_ = 0;       // when the source may be asked again, for it had nothing new
  bool renewing_ = false;       // a thread is at it
  std::exception_ptr failure_;  // of the last time
  std::minstd_rand random_{std::random_device()()};
  const support::ForkGuard forks_{mutex_, [this] { Forget(); }};
};

// Looks for keys: those of `config`, then what credential_sources.h has. Throws Failure where there
// are none, with all that was tried: requests without a signature are never sent.
Keychain OpenKeychain(const Config& config, const Environment& environment);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_KEYCHAIN_H_
