// The signer against what AWS published: the examples of Amazon S3's API reference ("Examples:
// Signature Calculations", "Authenticating Requests: Using Query Parameters"), and requests of
// AWS's Signature Version 4 test suite.

#include "sigv4.h"

#include "test.h"

namespace objectstore {
namespace {

constexpr char kEmptyHash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const Credentials kS3 = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const Scope kS3Scope = {"us-east-1", "s3", 1369353600};  // 20130524T000000Z

const Credentials kSuite = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const Scope kSuiteScope = {"us-east-1", "service", 1440938160};  // 20150830T123600Z

std::string SignatureIn(const std::string& authorization) {
  return authorization.substr(authorization.rfind('=') + 1);
}

Signable OnBucket(const std::string& method, const std::string& path, const Parameters& query) {
  Signable request = {method, path, query, {}, kEmptyHash};
  request.headers = {{"host", "examplebucket.s3.amazonaws.com"},
                     {"x-amz-content-sha256", kEmptyHash},
                     {"x-amz-date", "20130524T000000Z"}};
  return request;
}

std::string SuiteSignature(const std::string& method, const std::string& path,
                           const Parameters& query, const Parameters& more = {}) {
  Signable request = {method, path, query, more, kEmptyHash};
  request.headers["host"] = "example.amazonaws.com";
  request.headers["x-amz-date"] = "20150830T123600Z";
  return SignatureIn(Authorization(request, kSuite, kSuiteScope));
}

TEST(GetObjectWithRange) {
  Signable request = OnBucket("GET", "/test.txt", {});
  request.headers["range"] = "bytes=0-9";
  EXPECT_EQUAL(
      Authorization(request, kS3, kS3Scope),
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(PutObject) {
  Signable request = OnBucket("PUT", "/test%24file.text", {});
  request.headers["date"] = "Fri, 24 May 2013 00:00:00 GMT";
  request.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
  request.payload_hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  request.headers["x-amz-content-sha256"] = request.payload_hash;
  EXPECT_EQUAL(SignatureIn(Authorization(request, kS3, kS3Scope)),
               "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(GetBucketLifecycle) {
  EXPECT_EQUAL(SignatureIn(Authorization(OnBucket("GET", "/", {{"lifecycle", ""}}), kS3, kS3Scope)),
               "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(ListObjects) {
  const Signable request = OnBucket("GET", "/", {{"max-keys", "2"}, {"prefix", "J"}});
  EXPECT_EQUAL(SignatureIn(Authorization(request, kS3, kS3Scope)),
               "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(PresignedGet) {
  const Signable request = {
      "GET", "/test.txt", {}, {{"host", "examplebucket.s3.amazonaws.com"}}, ""};
  EXPECT_EQUAL(PresignedQuery(request, kS3, kS3Scope, 86400),
               "X-Amz-Algorithm=AWS4-HMAC-SHA256"
               "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
               "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
               "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(GetVanilla) {
  EXPECT_EQUAL(SuiteSignature("GET", "/", {}),
               "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(PostVanilla) {
  EXPECT_EQUAL(SuiteSignature("POST", "/", {}),
               "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

TEST(GetVanillaQueryOrder) {
  EXPECT_EQUAL(SuiteSignature("GET", "/", {{"Param2", "value2"}, {"Param1", "value1"}}),
               "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(GetVanillaQueryUnreserved) {
  const std::string unreserved =
      "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  EXPECT_EQUAL(SuiteSignature("GET", "/", {{unreserved, unreserved}}),
               "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197");
}

TEST(GetUtf8) {
  EXPECT_EQUAL(SuiteSignature("GET", Encoded("/\u1234", true), {}),
               "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
}

TEST(GetSpace) {
  EXPECT_EQUAL(SuiteSignature("GET", Encoded("/example space/", true), {}),
               "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741");
}

TEST(HeaderValuesAreTrimmed) {
  EXPECT_EQUAL(
      SuiteSignature("GET", "/", {}, {{"my-header1", "value1"}, {"my-header2", "\"a b c\""}}),
      SuiteSignature("GET", "/", {},
                     {{"my-header1", " value1  "}, {"my-header2", "\"a   b   c\""}}));
}

TEST(TheTokenIsPartOfWhatIsPresigned) {
  const Signable request = {"GET", "/k", {}, {{"host", "h"}}, ""};
  const std::string query = PresignedQuery(request, {"A", "S", "to/ken"}, kS3Scope, 60);
  EXPECT_EQUAL(query.find("&X-Amz-Security-Token=to%2Fken&") != std::string::npos, true);
}

}  // namespace
}  // namespace objectstore
