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

// Without its quotes, and without the W/ of those that promise less.
std::string Bare(std::string etag) {
  if (etag.rfind("W/", 0) == 0) etag.erase(0, 2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

// What is wrong with a 200: nothing, where `into` holds this version.
const char* Fault(const Response& response, const Version& version, const Spool& into) {
  if (Bare(response.Header("etag")) != Bare(version.etag)) {
    return "the bytes are those of another version of the object";
  }
  if (into.size() != version.size) return "the bytes are not as many as the object has";
  return nullptr;
}

bool MayComeFromStore(TF_Code code) {
  return code == TF_UNAVAILABLE || code == TF_DEADLINE_EXCEEDED || code == TF_DATA_LOSS ||
         code == TF_INTERNAL;
}

}  // namespace

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
    FromStore(name, version, into);
  }
}

void Dragonfly::Proxied(const Name& name, const Version& version, Spool* into) const {
  Request request;
  request.method = "GET";
  request.by_proxy = true;
  request.into = into;
  request.headers = config_.header;
  request.headers["x-dragonfly-use-p2p"] = "true";
  // Dragonfly never asks the store again for what it holds under one URL and one tag.
  if (config_.tag_with_etag) request.headers["x-dragonfly-tag"] = Bare(version.etag);
  // Today's clients know the first of these, those before 2.4 the second.
  request.headers["x-dragonfly-filtered-query-params"] = Joined(config_.filter, ",");
  request.headers["x-dragonfly-filter"] = Joined(config_.filter, "&");
  request.headers["if-match"] = version.etag;

  const char* fault = nullptr;
  for (int tried = 0; tried <= config_.retries; ++tried) {
    if (tried > 0) Pause(tried);
    const Response response = Persistently(config_.retries - tried, true, [&] {
      into->Clear();
      request.url = s3_.PresignedUrl(name);
      return http_.Send(request);
    });
    if (response.status == 412) throw Changed();
    if (response.status != 200) throw Refusal(response, true);
    if (config_.require_p2p && response.Header("x-dragonfly-task-id").empty() &&
        response.Header("x-dragonfly-task").empty()) {
      throw Failure(TF_FAILED_PRECONDITION,
                    "not served by Dragonfly: the answer has no X-Dragonfly-Task-ID");
    }
    fault = Fault(response, version, *into);
    if (fault == nullptr) return;
  }
  throw Failure(TF_DATA_LOSS, std::string("dfdaemon: ") + fault);
}

void Dragonfly::FromStore(const Name& name, const Version& version, Spool* into) const {
  const Response response = s3_.Send({"GET", name, {}, {{"if-match", version.etag}}, {}, into});
  if (response.status == 412) throw Changed();
  if (response.status != 200) throw Refusal(response, false);
  const char* fault = Fault(response, version, *into);
  if (fault != nullptr) throw Failure(TF_DATA_LOSS, std::string("the store: ") + fault);
}

}  // namespace dragonfly
