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

}  // namespace
}  // namespace objectstore
