#include "documents.h"

#include "answers.h"
#include "test.h"
#include "times.h"

namespace objectstore {
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
  EXPECT_FAILS(ReadPage("<ListBucketResult/>"), TF_INTERNAL, "whether it is all");
}

TEST(KeysThatAreEncodedWrongly) {
  for (const char* key : {"a%4", "a%zz", "100%", "a b"}) {
    const std::string page = "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>" +
                             std::string(key) + "</Key></Contents><IsTruncated>false" +
                             "</IsTruncated></ListBucketResult>";
    EXPECT_FAILS(ReadPage(page), TF_INTERNAL, "encodes keys");
  }
}

TEST(DeletionsKeyByKey) {
  const auto deletions = ReadDeletions(
      "<DeleteResult><Deleted><Key>a</Key></Deleted>"
      "<Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>");
  EXPECT_EQUAL(deletions.size(), size_t{2});
  EXPECT_EQUAL(deletions.at("a"), "");
  EXPECT_EQUAL(deletions.at("b"), "AccessDenied");
  EXPECT_FAILS(ReadDeletions("<Error><Code>InternalError</Code></Error>"), TF_INTERNAL,
               "what it deleted");
}

TEST(AnElementOfAnotherDocument) {
  const std::string body = "<CopyObjectResult><ETag>&quot;a&quot;</ETag></CopyObjectResult>";
  EXPECT_EQUAL(ElementText(body, "CopyObjectResult", "ETag"), "\"a\"");
  EXPECT_FAILS(ElementText(body, "CopyPartResult", "ETag"), TF_INTERNAL, "CopyPartResult");
  EXPECT_FAILS(ElementText(body, "CopyObjectResult", "UploadId"), TF_INTERNAL, "UploadId");
}

TEST(TimesToWait) {
  const auto wait = [](const std::string& text) {
    Response response;
    response.headers["retry-after"] = text;
    return RetryAfter(response);
  };
  EXPECT_EQUAL(wait(""), 0.0);
  EXPECT_EQUAL(wait("7"), 7.0);
  EXPECT_EQUAL(wait("-7"), 0.0);
  EXPECT_EQUAL(wait("soon"), 0.0);
  EXPECT_EQUAL(wait("Fri, 24 May 2013 00:00:00 GMT"), 0.0);
  EXPECT_EQUAL(wait("Fri, 24 May 2213 00:00:00 GMT") > 1e9, true);
}

TEST(TimesOfHttp) {
  EXPECT_EQUAL(TimeOf("Fri, 24 May 2013 00:00:00 GMT"), int64_t{1369353600000000000});
  // Nanoseconds end in 2262.
  EXPECT_EQUAL(TimeOf("Fri, 31 Dec 9999 23:59:59 GMT"), int64_t{9223372035000000000});
  EXPECT_EQUAL(TimeOf("yesterday"), int64_t{0});
  EXPECT_EQUAL(TimeOf(""), int64_t{0});
}

TEST(CodesOfAnswers) {
  const auto code = [](long status, const std::string& s3_code, const std::string& type) {
    Response response;
    response.status = status;
    if (!s3_code.empty()) response.body = "<Error><Code>" + s3_code + "</Code></Error>";
    if (!type.empty()) response.proxy_error = "X-Error-Type: " + type;
    return Refusal(response).code();
  };
  EXPECT_EQUAL(code(404, "NoSuchKey", ""), TF_NOT_FOUND);
  EXPECT_EQUAL(code(404, "", "backend"), TF_NOT_FOUND);
  EXPECT_EQUAL(code(404, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(404, "NoSuchUpload", ""), TF_ABORTED);
  EXPECT_EQUAL(code(403, "", "backend"), TF_PERMISSION_DENIED);
  EXPECT_EQUAL(code(401, "", "proxy"), TF_UNAUTHENTICATED);
  EXPECT_EQUAL(code(400, "InvalidArgument", ""), TF_INVALID_ARGUMENT);
  EXPECT_EQUAL(code(400, "ExpiredToken", ""), TF_UNAUTHENTICATED);
  EXPECT_EQUAL(code(400, "SlowDown", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(405, "", ""), TF_UNIMPLEMENTED);
  EXPECT_EQUAL(code(501, "NotImplemented", ""), TF_UNIMPLEMENTED);
  EXPECT_EQUAL(code(409, "OperationAborted", ""), TF_ABORTED);
  // TensorFlow takes OUT_OF_RANGE for the end of a file.
  EXPECT_EQUAL(code(416, "InvalidRange", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(429, "", "proxy"), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(503, "SlowDown", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(507, "", "proxy"), TF_RESOURCE_EXHAUSTED);
  EXPECT_EQUAL(code(500, "", "backend"), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(500, "InternalError", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(200, "InternalError", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(200, "SlowDown", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(200, "AccessDenied", ""), TF_PERMISSION_DENIED);
  EXPECT_EQUAL(code(200, "NobodyKnows", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(200, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(206, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(304, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(307, "", ""), TF_FAILED_PRECONDITION);
  EXPECT_EQUAL(code(522, "", ""), TF_UNAVAILABLE);
  EXPECT_EQUAL(code(422, "", ""), TF_INTERNAL);
  EXPECT_EQUAL(code(301, "PermanentRedirect", ""), TF_FAILED_PRECONDITION);
}

}  // namespace
}  // namespace objectstore
