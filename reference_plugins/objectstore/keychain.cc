#include "keychain.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "log.h"
#include "retry.h"

namespace objectstore {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool Same(const Credentials& one, const Credentials& other) {
  return one.access_key == other.access_key && one.secret_key == other.secret_key &&
         one.session_token == other.session_token;
}

}  // namespace

double Keychain::Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Keychain::Keychain(Plugin plugin, Source source, const Grant& first, Clock clock)
    : plugin_(std::move(plugin)), source_(std::move(source)), clock_(std::move(clock)) {
  Take(first, clock_());
}

void Keychain::Take(const Grant& grant, double now) {
  // EC2 has new keys five minutes before the old ones expire. Not all of many processes that began
  // together ask at the same moment.
  constexpr double kLead = 300;
  constexpr double kPause = 1;
  if (grant.expires > 0 && grant.expires <= now) {
    throw Failure(TF_UNAUTHENTICATED, "the source of credentials gives such as have expired");
  }
  if (keys_ == nullptr || !Same(*keys_, grant.keys)) {
    keys_ = std::make_shared<const Credentials>(grant.keys);
    not_before_ = 0;
  } else {
    not_before_ = now + kPause;
  }
  expires_ = grant.expires > 0 ? grant.expires : kNever;
  std::uniform_real_distribution<double> jitter(0.5, 1);
  const double lead = std::min(kLead, (expires_ - now) / 2) * jitter(random_);
  renew_at_ = expires_ - lead;
}

void Keychain::Renew(std::unique_lock<std::mutex>* lock) {
  renewing_ = true;
  failure_ = nullptr;
  const Identity old = keys_;
  lock->unlock();
  Offer offer;
  std::exception_ptr failure;
  try {
    // Its requests have a time of their own: that of the op is for the store.
    Patience apart;
    if (Op::Current() != nullptr) apart.recall = Op::Current()->recall;
    const Op patient(&apart);
    offer = source_.fetch();
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  lock->lock();
  renewing_ = false;
  changed_->notify_all();
  const double now = clock_();
  try {
    if (failure != nullptr) std::rethrow_exception(failure);
    if (!offer.grant) throw Failure(TF_UNAUTHENTICATED, offer.why_not);
    Take(*offer.grant, now);
  } catch (const std::exception& error) {
    // The source is asked again in a while, and not by everybody who comes along.
    constexpr double kLeast = 1;
    constexpr double kMost = 60;
    failure_ = std::current_exception();
    not_before_ = now + kLeast;
    renew_at_ = std::min(expires_, now + std::clamp((expires_ - now) / 4, kLeast, kMost));
    // Nobody waits for a line of the log.
    lock->unlock();
    static Event not_replaced;
    not_replaced.Tell(plugin_, TF_WARNING,
                      std::string("credentials are not replaced: ") + error.what());
    lock->lock();
    throw;
  }
  if (Same(*old, *keys_)) return;
  lock->unlock();
  static Event replaced;
  replaced.Tell(plugin_, TF_INFO, "credentials are replaced");
  lock->lock();
}

Identity Keychain::Await(std::unique_lock<std::mutex>* lock, const Identity& old) {
  changed_->wait(*lock, [&] { return !renewing_ || keys_ != old; });
  if (keys_ != old) return keys_;
  if (clock_() < not_before_) {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return keys_;
  }
  Renew(lock);
  return keys_;
}

Identity Keychain::Current() {
  std::unique_lock<std::mutex> lock(mutex_);
  const double now = clock_();
  if (now < renew_at_) return keys_;
  if (now >= expires_) return Await(&lock, keys_);
  if (renewing_) return keys_;
  try {
    Renew(&lock);
  } catch (const Failure&) {
    // The old ones are good for a while.
  }
  return keys_;
}

Identity Keychain::Instead(const Identity& refused) {
  std::unique_lock<std::mutex> lock(mutex_);
  return renews() ? Await(&lock, refused) : keys_;
}

void Keychain::Forget() noexcept {
  renewing_ = false;
  changed_.release();
  changed_ = std::make_unique<std::condition_variable>();
}

Keychain OpenKeychain(const Config& config, const Environment& environment) {
  if (!config.credentials.access_key.empty()) {
    return Keychain(config.plugin, Source(), Grant{config.credentials});
  }
  // Whoever registers the plugin does not wait for long, and neither does an op.
  constexpr int kConnect = 1;
  constexpr int kStall = 3;
  constexpr int kAtOnce = 1;
  constexpr double kBudget = 5;
  const auto http = std::make_shared<Http>(config.plugin, Proxy(), kConnect, kStall, kAtOnce);
  const Ask ask = [http, plugin = config.plugin](const Request& request) {
    // The metadata service is near, or not there at all; its token is the one thing that is PUT.
    const double budget = request.method == "PUT" ? 0 : kBudget;
    return Persistently(plugin, request.who, budget, true, [&] { return http->Send(request); });
  };
  std::string tried = "object_storage.access_key is not in the configuration";
  for (const Source& source : Sources(config.plugin, environment, config.region, ask)) {
    const Offer offer = source.fetch();
    if (offer.grant) return Keychain(config.plugin, source, *offer.grant);
    tried += "; " + offer.why_not;
  }
  throw Failure(TF_INVALID_ARGUMENT,
                "no credentials: " + tried + "; set one of these, for nothing is sent unsigned");
}

}  // namespace objectstore
