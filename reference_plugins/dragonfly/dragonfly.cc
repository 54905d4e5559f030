#include "dragonfly/dragonfly.h"

#include "objectstore/answers.h"
#include "objectstore/log.h"
#include "objectstore/retry.h"

namespace dragonfly {
namespace {

using objectstore::Altered;
using objectstore::Bare;
using objectstore::Changed;
using objectstore::Event;
using objectstore::Failure;
using objectstore::Name;
using objectstore::Request;
using objectstore::Response;
using objectstore::Sink;
using objectstore::Version;
using objectstore::Wait;
using objectstore::Wrong;

// Dragonfly passes ranges up to this length by: its client takes them from the store itself.
constexpr uint64_t kMostPassedBy = 4 << 20;

std::string Joined(const std::vector<std::string>& names, const char* mark) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : mark) + name;
  return text;
}

// The client of Dragonfly has served before, so it is one, and may serve again: while it starts it
// fetches some answers by itself.
class PassedBy : public Failure {
 public:
  PassedBy() : Failure(TF_UNAVAILABLE, "dfdaemon passes Dragonfly by: no X-Dragonfly-Task-ID") {}
};

bool MayComeFromStore(TF_Code code) {
  return code == TF_UNAVAILABLE || code == TF_DEADLINE_EXCEEDED || code == TF_DATA_LOSS ||
         code == TF_INTERNAL;
}

}  // namespace

void Dragonfly::Get(const Name& name, const Version& version, Sink* into) const {
  const objectstore::Plugin& plugin = config_.store.plugin;
  if (!into->span().is_all() && config_.store.read_ahead <= kMostPassedBy) {
    static Event small_parts;
    small_parts.Tell(plugin, TF_INFO, "parts as small as read_ahead come from the store");
    return store_.Get(name, version, into);
  }
  try {
    Proxied(name, version, into);
  } catch (const Changed&) {
    throw;
  } catch (const Altered&) {
    throw;
  } catch (const Failure& failure) {
    if (!config_.fallback_to_source || !MayComeFromStore(failure.code())) throw;
    ++counters().fallbacks;
    static Event fallback;
    fallback.Tell(
        plugin, TF_WARNING,
        std::string("an object comes from the store and not through Dragonfly: ") + failure.what());
    objectstore::RenewPatience();  // another server
    store_.Get(name, version, into);
  }
}

void Dragonfly::Proxied(const Name& name, const Version& version, Sink* into) const {
  const objectstore::Plugin& plugin = config_.store.plugin;
  Request request;
  request.method = "GET";
  request.by_proxy = true;
  request.into = into;
  request.headers = config_.header;
  request.headers["x-dragonfly-use-p2p"] = "true";
  // Today's clients know the first of these, those before 2.4 the second.
  request.headers["x-dragonfly-filtered-query-params"] = Joined(config_.filter, ",");
  request.headers["x-dragonfly-filter"] = Joined(config_.filter, "&");
  request.headers["if-match"] = version.etag;
  into->Demand([&](const Response& response) {
    const bool serves = !response.Header("x-dragonfly-task-id").empty() ||
                        !response.Header("x-dragonfly-task").empty();
    if (serves && !has_served_.exchange(true)) {
      static Event served;
      served.Tell(plugin, TF_INFO, "objects come through Dragonfly");
    }
    if (!serves && config_.require_p2p) {
      if (has_served_) throw PassedBy();
      throw Failure(TF_FAILED_PRECONDITION,
                    "not served by Dragonfly: the answer has no X-Dragonfly-Task-ID");
    }
    if (!serves) {
      static Event passed_by;
      passed_by.Tell(plugin, TF_WARNING,
                     "dfdaemon passes Dragonfly by: an answer has no X-Dragonfly-Task-ID");
    }
    into->CountAs(serves ? &counters().bytes_from_p2p : &objectstore::counters().bytes_from_store);
    objectstore::DemandVersion(kDfdaemon, response, version);
  });

  // Where there is another way, most of the time is for that.
  const double budget = config_.store.retry_deadline_s / (config_.fallback_to_source ? 10 : 1);
  constexpr int kMostTasks = 3;  // each may be as large as the object
  int task = 1;
  for (int next = 1;; ++next) {
    if (config_.tag_with_etag) {
      // Dragonfly never asks the store again for what it holds under one URL and one tag. So each
      // version is a task of its own, and so is a try after wrong bytes.
      request.headers["x-dragonfly-tag"] =
          Bare(version.etag) + (task > 1 ? ".again" + std::to_string(task) : "");
    }
    try {
      const Response response = objectstore::Persistently(plugin, kDfdaemon, budget, true, [&] {
        return s3_.WithUrl(name, config_.proxy_endpoint, config_.sign_expires_s,
                           [&](const std::string& url) {
                             request.headers.erase("range");
                             const std::string range = into->Ask();
                             if (!range.empty()) request.headers["range"] = range;
                             request.url = url;
                             ++counters().requests_to_dfdaemon;
                             return http_.Send(request);
                           });
      });
      if (response.status == 412) throw Changed();
      if (!into->Fits(response)) throw objectstore::Refusal(response, kDfdaemon);
      return objectstore::DemandAll(kDfdaemon, into);
    } catch (const Wrong& wrong) {
      if (task == kMostTasks || !Wait(plugin, next, budget, 0, wrong.what())) throw;
      ++task;
    } catch (const PassedBy& passed) {
      if (!Wait(plugin, next, budget, 0, passed.what())) throw;
    }
  }
}

}  // namespace dragonfly
