#include "documents.h"

#include "answers.h"
#include "test.h"

namespace dragonfly {
namespace {

TEST(PageOfAListing) {
  const Page page = ReadPage(
      "<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
      "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>next</NextContinuationToken>"
      "<Contents><Key>a+b%2Bc%0A</Key><LastModified>2009-10-12T17:50:30.250Z</LastModified></"
      "Contents>"
      "<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes></ListBucketResult>");
  EXPECT_EQUAL(page.keys.at(0), "a b+c\n");
  EXPECT_EQUAL(page.prefixes.at(0), "d/");
  EXPECT_EQUAL(page.first_mtime_nsec, int64_t{1255369830250000000});
  EXPECT_EQUAL(page.next, "next");
}

TEST(PageThatIsNotEncoded) {
  const Page page = ReadPage(
      "<ListBucketResult><Contents><Key>a+b%2Bc &amp;</Key></Contents><Contents><Key> "
      "</Key></Contents>"
      "<IsTruncated>false</IsTruncated></ListBucketResult>");
  EXPECT_EQUAL(page.keys.at(0), "a+b%2Bc &");
  EXPECT_EQUAL(page.keys.at(1), " ");
  EXPECT_EQUAL(page.next, "");
}

TEST(WhatIsNoListingIsRefused) {
  EXPECT_FAILS(ReadPage("<html>"), TF_INTERNAL, "no XML");
  EXPECT_FAILS(ReadPage("<html></html>"), TF_INTERNAL, "no listing");
  EXPECT_FAILS(ReadPage("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"),
               TF_INTERNAL, "cannot be continued");
}

TEST(TimesOfHttp) {
  EXPECT_EQUAL(TimeOf("Fri, 24 May 2013 00:00:00 GMT"), int64_t{1369353600000000000});
  EXPECT_EQUAL(TimeOf("yesterday"), int64_t{0});
  EXPECT_EQUAL(TimeOf(""), int64_t{0});
}

TEST(CodesOfAnswers) {
  const auto code = [](long status, const std::string& s3_code, const std::string& type) {
    Response response;
    response.status = status;
    if (!s3_code.empty()) response.body = "<Error><Code>" + s3_code + "</Code></Error>";
    if (!type.empty()) response.headers["x-dragonfly-error-type"] = type;
    return Refusal(response, !type.empty()).code();
  };
  EXPECT_EQUAL(code(404, "NoSuchKey", ""), TF_NOT_FOUND);
  EXPECT_EQUAL(code(403, "", "backend"), TF_PERMISSION_DENIED);
  EXPECT_EQUAL(code(401, "", "proxy"), TF_UNAUTHENTICATED);
  EXPECT_EQUAL(code(400, "InvalidArgument", ""), TF_INVALID_ARGUMENT);
  EXPECT_EQUAL(code(400, "ExpiredToken", ""), TF_UNAUTHENTICATED);
  EXPECT_EQUAL(code(400, "SlowDown", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(405, "", ""), TF_UNIMPLEMENTED);
  EXPECT_EQUAL(code(501, "NotImplemented", ""), TF_UNIMPLEMENTED);
  EXPECT_EQUAL(code(409, "OperationAborted", ""), TF_ABORTED);
  EXPECT_EQUAL(code(416, "", ""), TF_OUT_OF_RANGE);
  EXPECT_EQUAL(code(429, "", "proxy"), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(503, "SlowDown", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(507, "", "dfdaemon"), TF_RESOURCE_EXHAUSTED);
  EXPECT_EQUAL(code(500, "", "backend"), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(500, "InternalError", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(200, "InternalError", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(422, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(301, "PermanentRedirect", ""), TF_FAILED_PRECONDITION);
}

}  // namespace
}  // namespace dragonfly
