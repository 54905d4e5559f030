// What each source asks, and whom. The services are functions here; the tests of the plugin have
// servers.

#include "credential_sources.h"

#include "test.h"

namespace objectstore {
namespace {

enum { kEnvironment, kSharedFiles, kWebIdentity, kContainer, kMetadata };

constexpr char kKeys[] = R"({"AccessKeyId": "a", "SecretAccessKey": "hidden", "Token": "c"})";

// Asks one source, with a service that gives these answers one after the other, and notes requests.
struct Asked {
  std::vector<Response> answers;
  std::vector<Request> requests = {};

  Offer operator()(int source, const std::map<std::string, std::string>& environment) {
    const Ask ask = [this](const Request& request) {
      requests.push_back(request);
      if (requests.size() > answers.size()) {
        throw Disconnected(TF_UNAVAILABLE, std::string(request.who) + " is not there", true);
      }
      return answers[requests.size() - 1];
    };
    return Sources(unit::Somebody(), environment, "eu-west-1", ask)
        .at(static_cast<size_t>(source))
        .fetch();
  }
};

TEST(NothingIsSetUp) {
  const std::map<std::string, std::string> empty = {{"HOME", "/no/such/home"}};
  const char* why[] = {"AWS_ACCESS_KEY_ID is not set",
                       "the profile default is not in /no/such/home/.aws/credentials",
                       "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are not set",
                       "AWS_CONTAINER_CREDENTIALS_FULL_URI are not set",
                       "the instance metadata service is not there"};
  for (int k = kEnvironment; k <= kMetadata; ++k) {
    const Offer offer = Asked{{}}(k, empty);
    EXPECT_EQUAL(offer.grant.has_value(), false);
    EXPECT_EQUAL(offer.why_not.find(why[k]) == std::string::npos ? offer.why_not : why[k], why[k]);
  }
}

TEST(HalfASetUpIsAFailure) {
  const auto refused = [](int source, const std::map<std::string, std::string>& environment,
                          const std::string& why) {
    EXPECT_FAILS((Asked{{}}(source, environment)), TF_INVALID_ARGUMENT, why);
  };
  refused(kEnvironment, {{"AWS_ACCESS_KEY_ID", "a"}}, "AWS_SECRET_ACCESS_KEY");
  refused(kSharedFiles, {{"AWS_PROFILE", "mine"}}, "AWS_PROFILE names it");
  refused(kWebIdentity, {{"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}}, "AWS_ROLE_ARN");
  refused(kContainer, {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://far.example/"}},
          "is neither https nor on this machine");
  refused(kContainer,
          {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x"},
           {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "a\nx-b: c"}},
          "more than one line");
  EXPECT_FAILS(
      (Asked{{}}(kContainer, {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x"},
                              {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/no/such/token"}})),
      TF_FAILED_PRECONDITION, "/no/such/token, which holds no token");
}

TEST(ATaskOfEcsAsksItsAgent) {
  Asked asked = {{{200, {}, kKeys, {}}}};
  const Offer offer = asked(kContainer, {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/task"},
                                         {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic x"}});
  EXPECT_EQUAL(offer.grant->keys.session_token, "c");
  EXPECT_EQUAL(asked.requests.at(0).url, "http://169.254.170.2/v2/task");
  EXPECT_EQUAL(asked.requests.at(0).headers.at("authorization"), "Basic x");
}

TEST(AnInstanceIsAskedWithAToken) {
  Asked asked = {{{200, {}, "token", {}}, {200, {}, "my role\n", {}}, {200, {}, kKeys, {}}}};
  EXPECT_EQUAL(asked(kMetadata, {}).grant->keys.access_key, "a");
  EXPECT_EQUAL(asked.requests.at(0).method, "PUT");
  EXPECT_EQUAL(asked.requests.at(2).headers.at("x-aws-ec2-metadata-token"), "token");
  EXPECT_EQUAL(asked.requests.at(2).url,
               "http://169.254.169.254/latest/meta-data/iam/security-credentials/my%20role");
}

TEST(AnInstanceWithoutARoleHasNothing) {
  Asked asked = {{{200, {}, "token", {}}, {404, {}, "", {}}}};
  EXPECT_EQUAL(asked(kMetadata, {}).why_not, "the instance has no role");
  EXPECT_EQUAL((Asked{{}}(kMetadata, {{"AWS_EC2_METADATA_DISABLED", "TRUE"}}).why_not),
               "AWS_EC2_METADATA_DISABLED is set");
}

TEST(WhatAServiceRefusesIsToldWithoutSecrets) {
  const std::map<std::string, std::string> container = {
      {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x?secret"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden"}};
  for (const auto& [answer, code] : std::map<std::string, TF_Code>{
           {"403", TF_UNAUTHENTICATED}, {"500", TF_UNAVAILABLE}, {"200", TF_UNAUTHENTICATED}}) {
    Asked asked = {{{std::stol(answer), {}, R"({"SecretAccessKey": "hidden"})", {}}}};
    try {
      asked(kContainer, container);
      EXPECT_EQUAL(std::string("taken"), "refused");
    } catch (const Failure& failure) {
      const std::string text = failure.what();
      EXPECT_EQUAL(failure.code(), code);
      EXPECT_EQUAL(text.find("hidden"), std::string::npos);
      EXPECT_EQUAL(text.find("secret"), std::string::npos);
      EXPECT_EQUAL(text.rfind("the container's credential service", 0), size_t{0});
    }
  }
}

}  // namespace
}  // namespace objectstore
