#include "dragonfly.h"

#include "answers.h"
#include "counters.h"
#include "log.h"
#include "retry.h"

namespace dragonfly {
namespace {

// Dragonfly passes ranges up to this length by: its client takes them from the store itself.
constexpr uint64_t kMostPassedBy = 4 << 20;

std::string Joined(const std::vector<std::string>& names, const char* mark) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : mark) + name;
  return text;
}

// Another task, or the store, may have the right bytes.
class Wrong : public Failure {
 public:
  Wrong(const char* who, const char* fault)
      : Failure(TF_DATA_LOSS, std::string(who) + ": " + fault) {}
};

// The client of Dragonfly has served before, so it is one, and may serve again: while it starts it
// fetches some answers by itself.
class PassedBy : public Failure {
 public:
  PassedBy() : Failure(TF_UNAVAILABLE, "dfdaemon passes Dragonfly by: no X-Dragonfly-Task-ID") {}
};

void DemandVersion(const char* who, const Response& response, const Version& version) {
  if (Bare(response.Header("etag")) != Bare(version.etag)) {
    throw Wrong(who, "the bytes are those of another version of the object");
  }
}

// The last word on a request to which this is the answer.
void DemandAll(const char* who, Sink* sink) {
  const char* fault = sink->Fault();
  if (fault == nullptr) return;
  if (!sink->Clear()) throw Altered();
  throw Wrong(who, fault);
}

bool MayComeFromStore(TF_Code code) {
  return code == TF_UNAVAILABLE || code == TF_DEADLINE_EXCEEDED || code == TF_DATA_LOSS ||
         code == TF_INTERNAL;
}

}  // namespace

Checksum Dragonfly::Expected(const Version& version) const {
  const bool is_etag = version.checksum.sum == Sum::kMd5;
  const bool compare =
      config_.verify == Verify::kAll || (config_.verify == Verify::kChecksum && !is_etag);
  return compare ? version.checksum : Checksum();
}

void Dragonfly::Get(const Name& name, const Version& version, Sink* into) const {
  if (version.etag.empty()) {
    throw Failure(TF_INTERNAL, "the store gives no ETag, so versions cannot be told apart");
  }
  if (version.size == 0) return;
  if (!into->span().is_all() && config_.read_ahead <= kMostPassedBy) {
    Tell(Event::kSmallParts, TF_INFO, "parts as small as read_ahead come from the store");
    return FromStore(name, version, into);
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
    Tell(
        Event::kFallback, TF_WARNING,
        std::string("an object comes from the store and not through Dragonfly: ") + failure.what());
    RenewPatience();  // another server
    FromStore(name, version, into);
  }
}

void Dragonfly::Proxied(const Name& name, const Version& version, Sink* into) const {
  constexpr char kWho[] = "dfdaemon";
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
      Tell(Event::kServed, TF_INFO, "objects come through Dragonfly");
    }
    if (!serves && config_.require_p2p) {
      if (has_served_) throw PassedBy();
      throw Failure(TF_FAILED_PRECONDITION,
                    "not served by Dragonfly: the answer has no X-Dragonfly-Task-ID");
    }
    if (!serves) {
      Tell(Event::kPassedBy, TF_WARNING,
           "dfdaemon passes Dragonfly by: an answer has no X-Dragonfly-Task-ID");
    }
    into->CountAs(serves ? &counters().bytes_from_p2p : &counters().bytes_from_store);
    DemandVersion(kWho, response, version);
  });

  // Where there is another way, most of the time is for that.
  const double budget = config_.retry_deadline_s / (config_.fallback_to_source ? 10 : 1);
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
      const Response response = Persistently(kWho, budget, true, [&] {
        return s3_.WithUrl(name, [&](const std::string& url) {
          request.headers.erase("range");
          const std::string range = into->Ask();
          if (!range.empty()) request.headers["range"] = range;
          request.url = url;
          ++counters().requests_to_dfdaemon;
          return http_.Send(request);
        });
      });
      if (response.status == 412) throw Changed();
      if (!into->Fits(response)) throw Refusal(response, true);
      return DemandAll(kWho, into);
    } catch (const Wrong& wrong) {
      if (task == kMostTasks || !Wait(next, budget, 0, wrong.what())) throw;
      ++task;
    } catch (const PassedBy& passed) {
      if (!Wait(next, budget, 0, passed.what())) throw;
    }
  }
}

void Dragonfly::FromStore(const Name& name, const Version& version, Sink* into) const {
  constexpr char kWho[] = "the store";
  into->CountAs(&counters().bytes_from_store);
  into->Demand([&](const Response& response) { DemandVersion(kWho, response, version); });
  const Response response = s3_.Send({"GET", name, {}, {{"if-match", version.etag}}, {}, into});
  if (response.status == 412) throw Changed();
  if (!into->Fits(response)) throw Refusal(response, false);
  DemandAll(kWho, into);
}

}  // namespace dragonfly
