// An object that comes in parts: all of them make it, or none.

#include "answers.h"
#include "documents.h"
#include "objects.h"

namespace dragonfly {

std::string Objects::InParts(
    const Name& name, int count, const Condition& condition,
    const std::function<std::string(int number, const Parameters& query)>& send) const {
  Call start = {"POST", name, {{"uploads", ""}}};
  start.idempotent = false;  // each one that is sent starts an upload
  const Response started = s3_.Send(start);
  if (started.status != 200) throw Refusal(started, false);
  const std::string upload = ElementText(started.body, "UploadId");
  try {
    std::vector<std::string> etags;
    for (int number = 0; number < count; ++number) {
      etags.push_back(
          send(number, {{"partNumber", std::to_string(number + 1)}, {"uploadId", upload}}));
    }
    Call finish = {"POST", name, {{"uploadId", upload}}};
    if (condition.only_if_missing) finish.headers["if-none-match"] = "*";
    if (!condition.only_if_etag.empty()) finish.headers["if-match"] = condition.only_if_etag;
    finish.body.text = PartList(etags);
    finish.idempotent = false;  // a second one would not find the upload
    const Response finished = s3_.Send(finish);
    // The store may need long to put the parts together, say 200 first, and an error in the end.
    if (finished.status != 200 || !ErrorCode(finished.body).empty()) {
      throw Refusal(finished, false);
    }
    return ElementText(finished.body, "ETag");
  } catch (const Failure&) {
    try {
      s3_.Send({"DELETE", name, {{"uploadId", upload}}});
    } catch (const Failure&) {
      // The parts stay until somebody tidies the store up; what went wrong first is the news.
    }
    throw;
  }
}

}  // namespace dragonfly
