// An object that comes in parts: all of them make it, or none.

#include "answers.h"
#include "documents.h"
#include "objects.h"

namespace dragonfly {

std::string Objects::InParts(
    const Name& name, int count, const Parameters& conditions,
    const std::function<std::string(int number, const Parameters& query)>& send) const {
  // Two tries may start two uploads; one without parts costs nobody anything.
  const Response started = s3_.Send({"POST", name, {{"uploads", ""}}});
  if (!Is(started, 200)) throw Refusal(started, false);
  const std::string upload = ElementText(started.body, "InitiateMultipartUploadResult", "UploadId");
  try {
    std::vector<std::string> etags;
    for (int number = 0; number < count; ++number) {
      etags.push_back(
          send(number, {{"partNumber", std::to_string(number + 1)}, {"uploadId", upload}}));
    }
    Call finish = {"POST", name, {{"uploadId", upload}}, conditions};
    finish.body.text = PartList(etags);
    const Response finished = s3_.Send(finish);
    // The store may need long to put the parts together, say 200 first, and an error in the end.
    if (!Is(finished, 200)) throw Refusal(finished, false);
    return ElementText(finished.body, "CompleteMultipartUploadResult", "ETag");
  } catch (...) {
    try {
      s3_.Send({"DELETE", name, {{"uploadId", upload}}});
    } catch (...) {
      // The parts stay until somebody tidies the store up; what went wrong first is the news.
    }
    throw;
  }
}

}  // namespace dragonfly
