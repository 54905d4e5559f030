// An object that comes in parts: all of them make it, or none.

#include "answers.h"
#include "documents.h"
#include "objects.h"
#include "parallel.h"

namespace objectstore {
namespace {

// An upload that was begun. Unless it is finished, the end of its life breaks it off.
class MultipartUpload {
 public:
  MultipartUpload(const S3& s3, const Name& name) : s3_(s3), name_(name) {
    // Two tries may start two uploads; one without parts costs nobody anything.
    const Response started = s3_.Send({"POST", name_, {{"uploads", ""}}});
    if (!Is(started, 200)) throw Refusal(started);
    id_ = ElementText(started.body, "InitiateMultipartUploadResult", "UploadId");
  }

  ~MultipartUpload() {
    if (finished_) return;
    try {
      s3_.Send({"DELETE", name_, {{"uploadId", id_}}});
    } catch (...) {
      // The parts stay until somebody tidies the store up; what went wrong first is the news.
    }
  }

  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;

  Parameters Part(size_t number) const {
    return {{"partNumber", std::to_string(number + 1)}, {"uploadId", id_}};
  }

  // Gives the ETag of the object.
  std::string Finish(const std::vector<std::string>& etags, const Parameters& conditions) {
    Call finish = {"POST", name_, {{"uploadId", id_}}, conditions};
    finish.body.text = PartList(etags);
    const Response finished = s3_.Send(finish);
    // The store may need long to put the parts together, say 200 first, and an error in the end.
    if (!Is(finished, 200)) throw Refusal(finished);
    std::string etag = ElementText(finished.body, "CompleteMultipartUploadResult", "ETag");
    finished_ = true;
    return etag;
  }

 private:
  const S3& s3_;
  const Name& name_;
  std::string id_;
  bool finished_ = false;
};

}  // namespace

std::string Objects::InParts(
    const Name& name, size_t count, const Parameters& conditions,
    const std::function<std::string(size_t number, const Parameters& query)>& send) const {
  // More would not be faster on most networks, and would leave less to other ops.
  constexpr size_t kAtOnce = 4;
  MultipartUpload upload(s3_, name);
  std::vector<std::string> etags(count);
  ForEach(count, kAtOnce, [&](size_t k) { etags[k] = send(k, upload.Part(k)); });
  return upload.Finish(etags, conditions);
}

}  // namespace objectstore
