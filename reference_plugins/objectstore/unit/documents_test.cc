#include "documents.h"

#include <map>

#include "answers.h"
#include "test.h"
#include "times.h"

namespace objectstore {
namespace {

TEST(TimeOfAListing) {
  const Page page = ReadPage(
      "<ListBucketResult><Contents><Key>a</Key><LastModified>2009-10-12T17:50:30.250Z"
      "</LastModified></Contents><IsTruncated>false</IsTruncated></ListBucketResult>");
  EXPECT_EQUAL(page.first_mtime_nsec, int64_t{1255369830250000000});
}

TEST(TimesToWait) {
  for (const auto& [text, seconds] : std::map<std::string, double>{
           {"", 0}, {"7", 7}, {"-7", 0}, {"soon", 0}, {"Fri, 24 May 2013 00:00:00 GMT", 0}}) {
    Response response;
    response.headers["retry-after"] = text;
    EXPECT_EQUAL(RetryAfter(response), seconds);
  }
  Response later;
  later.headers["retry-after"] = "Fri, 24 May 2213 00:00:00 GMT";
  EXPECT_EQUAL(RetryAfter(later) > 1e9, true);
}

TEST(TimesOfHttp) {
  EXPECT_EQUAL(TimeOf("Fri, 24 May 2013 00:00:00 GMT"), int64_t{1369353600000000000});
  // Nanoseconds end in 2262.
  EXPECT_EQUAL(TimeOf("Fri, 31 Dec 9999 23:59:59 GMT"), int64_t{9223372035000000000});
  EXPECT_EQUAL(TimeOf("yesterday"), int64_t{0});
  EXPECT_EQUAL(TimeOf(""), int64_t{0});
}

// Answers that no test in Python has.
TEST(CodesOfAnswers) {
  const struct {
    long status;
    const char* s3_code;
    const char* proxy_error;
    TF_Code code;
  } rows[] = {
      {400, "InvalidArgument", "", TF_INVALID_ARGUMENT},
      {400, "SlowDown", "", TF_UNAVAILABLE},
      {403, "", "backend", TF_PERMISSION_DENIED},
      {404, "", "backend", TF_NOT_FOUND},
      {422, "", "", TF_INTERNAL},
      {500, "", "backend", TF_UNAVAILABLE},
      {522, "", "", TF_UNAVAILABLE},
      {200, "SlowDown", "", TF_UNAVAILABLE},
      {200, "NobodyKnows", "", TF_INTERNAL},
  };
  for (const auto& row : rows) {
    Response response;
    response.status = row.status;
    if (*row.s3_code)
      response.body = std::string("<Error><Code>") + row.s3_code + "</Code></Error>";
    if (*row.proxy_error) response.proxy_error = std::string("X-Error-Type: ") + row.proxy_error;
    EXPECT_EQUAL(Refusal(response).code(), row.code);
  }
}

}  // namespace
}  // namespace objectstore
