#include "dragonfly.h"

#include "answers.h"
#include "retry.h"

namespace dragonfly {
namespace {

std::string Joined(const std::vector<std::string>& names, const char* mark) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : mark) + name;
  return text;
}

// What is wrong with a 200: nothing, where all of this version is in `sink`.
const char* Fault(const Response& response, const Version& version, Sink* sink) {
  if (Bare(response.Header("etag")) != Bare(version.etag)) {
    return "the bytes are those of another version of the object";
  }
  return sink->Fault();
}

bool MayComeFromStore(TF_Code code) {
  return code == TF_UNAVAILABLE || code == TF_DEADLINE_EXCEEDED || code == TF_DATA_LOSS ||
         code == TF_INTERNAL;
}

}  // namespace

Sink Dragonfly::SinkFor(const Version& version, Spool* into) const {
  const bool is_etag = version.checksum.sum == Sum::kMd5;
  const bool compare =
      config_.verify == Verify::kAll || (config_.verify == Verify::kChecksum && !is_etag);
  return {into, version.size, compare ? version.checksum : Checksum()};
}

void Dragonfly::Get(const Name& name, const Version& version, Spool* into) const {
  if (version.etag.empty()) {
    throw Failure(TF_INTERNAL, "the store gives no ETag, so versions cannot be told apart");
  }
  if (version.size == 0) return into->Clear();
  try {
    Proxied(name, version, into);
  } catch (const Changed&) {
    throw;
  } catch (const Failure& failure) {
    if (!config_.fallback_to_source || !MayComeFromStore(failure.code())) throw;
    RenewPatience();  // another server
    FromStore(name, version, into);
  }
}

void Dragonfly::Proxied(const Name& name, const Version& version, Spool* into) const {
  Request request;
  request.method = "GET";
  request.by_proxy = true;
  Sink sink = SinkFor(version, into);
  request.into = &sink;
  request.headers = config_.header;
  request.headers["x-dragonfly-use-p2p"] = "true";
  // Today's clients know the first of these, those before 2.4 the second.
  request.headers["x-dragonfly-filtered-query-params"] = Joined(config_.filter, ",");
  request.headers["x-dragonfly-filter"] = Joined(config_.filter, "&");
  request.headers["if-match"] = version.etag;

  // Where there is another way, most of the time is for that.
  const double budget = config_.retry_deadline_s / (config_.fallback_to_source ? 10 : 1);
  constexpr int kMostTasks = 3;  // each may be as large as the object
  for (int next = 1;; ++next) {
    if (config_.tag_with_etag) {
      // Dragonfly never asks the store again for what it holds under one URL and one tag. So each
      // version is a task of its own, and so is a try after wrong bytes.
      request.headers["x-dragonfly-tag"] =
          Bare(version.etag) + (next > 1 ? ".again" + std::to_string(next) : "");
    }
    const Response response = Persistently(budget, true, [&] {
      return s3_.WithUrl(name, [&](const std::string& url) {
        sink.Clear();
        request.url = url;
        return http_.Send(request);
      });
    });
    if (response.status == 412) throw Changed();
    if (response.status != 200) throw Refusal(response, true);
    if (config_.require_p2p && response.Header("x-dragonfly-task-id").empty() &&
        response.Header("x-dragonfly-task").empty()) {
      throw Failure(TF_FAILED_PRECONDITION,
                    "not served by Dragonfly: the answer has no X-Dragonfly-Task-ID");
    }
    const char* fault = Fault(response, version, &sink);
    if (fault == nullptr) return;
    if (next == kMostTasks || !Wait(next, budget, 0)) {
      throw Failure(TF_DATA_LOSS, std::string("dfdaemon: ") + fault);
    }
  }
}

void Dragonfly::FromStore(const Name& name, const Version& version, Spool* into) const {
  Sink sink = SinkFor(version, into);
  const Response response = s3_.Send({"GET", name, {}, {{"if-match", version.etag}}, {}, &sink});
  if (response.status == 412) throw Changed();
  if (response.status != 200) throw Refusal(response, false);
  const char* fault = Fault(response, version, &sink);
  if (fault != nullptr) throw Failure(TF_DATA_LOSS, std::string("the store: ") + fault);
}

}  // namespace dragonfly
