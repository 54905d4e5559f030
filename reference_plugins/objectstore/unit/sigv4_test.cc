// The server of the Python tests calculates the signature of each request with AWS's own library;
// none of them has a header with blanks.

#include "sigv4.h"

#include "test.h"

namespace objectstore {
namespace {

const Credentials kExample = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              ""};
const Scope kScope = {"us-east-1", "s3", 1369353600};  // 20130524T000000Z

TEST(HeaderValuesAreTrimmed) {
  const auto authorization = [](const std::string& value) {
    return Authorization({"GET", "/", {}, {{"host", "h"}, {"a", value}}, ""}, kExample, kScope);
  };
  EXPECT_EQUAL(authorization(" \"a   b\"  "), authorization("\"a b\""));
}

}  // namespace
}  // namespace objectstore
