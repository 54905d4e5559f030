#include "transport.h"

#include "answers.h"
#include "counters.h"

namespace objectstore {

void DemandVersion(const char* who, const Response& response, const Version& version) {
  if (Bare(response.Header("etag")) != Bare(version.etag)) {
    throw Wrong(who, "the bytes are those of another version of the object");
  }
}

void DemandAll(const char* who, Sink* sink) {
  const char* fault = sink->Fault();
  if (fault == nullptr) return;
  if (!sink->Clear()) throw Altered();
  throw Wrong(who, fault);
}

void FromStore::Get(const Name& name, const Version& version, Sink* into) const {
  constexpr char kWho[] = "the store";
  into->CountAs(&counters().bytes_from_store);
  into->Demand([&](const Response& response) { DemandVersion(kWho, response, version); });
  const Response response = s3_.Send({"GET", name, {}, {{"if-match", version.etag}}, {}, into});
  if (response.status == 412) throw Changed();
  if (!into->Fits(response)) throw Refusal(response);
  DemandAll(kWho, into);
}

}  // namespace objectstore
