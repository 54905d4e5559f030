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

TEST(IncompleteSetUpsAreFailures) {
  const char* relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
  const struct {
    int source;
    std::map<std::string, std::string> environment;
    TF_Code code;
    const char* why;
  } rows[] = {
      {kEnvironment, {{"AWS_ACCESS_KEY_ID", "a"}}, TF_INVALID_ARGUMENT, "AWS_SECRET_ACCESS_KEY"},
      {kSharedFiles, {{"AWS_PROFILE", "mine"}}, TF_INVALID_ARGUMENT, "AWS_PROFILE names it"},
      {kWebIdentity, {{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}}, TF_INVALID_ARGUMENT, "AWS_ROLE_ARN"},
      {kContainer,
       {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://far.example/"}},
       TF_INVALID_ARGUMENT,
       "is neither https nor on this machine"},
      {kContainer,
       {{relative, "/x"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "a\nx-b: c"}},
       TF_INVALID_ARGUMENT,
       "more than one line"},
      {kContainer,
       {{relative, "/x"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/no/token"}},
       TF_FAILED_PRECONDITION,
       "/no/token, which holds no token"}};
  for (const auto& row : rows) {
    EXPECT_FAILS((Asked{{}}(row.source, row.environment)), row.code, row.why);
  }
}

TEST(ATaskOfEcsAsksItsAgent) {
  Asked asked = {{{200, {}, kKeys, {}}}};
  const Offer offer = asked(kContainer, {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/task"},
                                         {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic x"}});
  EXPECT_EQUAL(offer.grant->keys.session_token, "c");
  EXPECT_EQUAL(asked.requests.at(0).url, "http://169.254.170.2/v2/task");
  EXPECT_EQUAL(asked.requests.at(0).headers.at("authorization"), "Basic x");
}

TEST(AnInstanceWithoutARoleHasNothing) {
  Asked asked = {{{200, {}, "token", {}}, {404, {}, "", {}}}};
  EXPECT_EQUAL(asked(kMetadata, {}).why_not, "the instance has no role");
  EXPECT_EQUAL(asked.requests.at(0).url, "http://169.254.169.254/latest/api/token");
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
