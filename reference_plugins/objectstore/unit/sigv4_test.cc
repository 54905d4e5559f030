// The signer against the examples of Amazon S3's API reference ("Examples: Signature Calculations",
// "Authenticating Requests: Using Query Parameters"). The server of the Python tests calculates the
// signature of each request with AWS's own library.

#include "sigv4.h"

#include "test.h"

namespace objectstore {
namespace {

constexpr char kEmptyHash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const Credentials kExample = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              ""};
const Scope kScope = {"us-east-1", "s3", 1369353600};  // 20130524T000000Z
constexpr char kHost[] = "examplebucket.s3.amazonaws.com";

TEST(GetObjectWithRange) {
  Signable request = {"GET", "/test.txt", {}, {{"host", kHost}}, kEmptyHash};
  request.headers["range"] = "bytes=0-9";
  request.headers["x-amz-content-sha256"] = kEmptyHash;
  request.headers["x-amz-date"] = "20130524T000000Z";
  EXPECT_EQUAL(
      Authorization(request, kExample, kScope),
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(PresignedGet) {
  const Signable request = {"GET", "/test.txt", {}, {{"host", kHost}}, ""};
  EXPECT_EQUAL(PresignedQuery(request, kExample, kScope, 86400),
               "X-Amz-Algorithm=AWS4-HMAC-SHA256"
               "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
               "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
               "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(HeaderValuesAreTrimmed) {
  const auto authorization = [](const std::string& value) {
    return Authorization({"GET", "/", {}, {{"host", kHost}, {"a", value}}, ""}, kExample, kScope);
  };
  EXPECT_EQUAL(authorization(" \"a   b\"  "), authorization("\"a b\""));
}

}  // namespace
}  // namespace objectstore
