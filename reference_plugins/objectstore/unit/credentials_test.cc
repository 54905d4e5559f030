#include "credentials.h"

#include "credential_sources.h"
#include "test.h"

namespace objectstore {
namespace {

constexpr char kFile[] =
    "; a comment\r\n"
    "outside = 1\n"
    "[default]\r\n"
    "AWS_ACCESS_KEY_ID = first\r\n"
    "aws_secret_access_key=with=and#and/ # said of it\n"
    "s3 =\n"
    "  aws_access_key_id = nested\n"
    "[ profile   \"two words\" ]\n"
    "aws_access_key_id=second\n"
    "aws_secret_access_key=secret\n"
    "aws_session_token=token\n"
    "[profile half]\n"
    "aws_access_key_id=third\n"
    "[profile empty]\n";

TEST(SectionsAreReadAsAwsReadsThem) {
  const auto sections = ReadSections(kFile);
  EXPECT_EQUAL(sections.size(), size_t{4});
  const auto first = CredentialsIn(sections.at("default"));
  EXPECT_EQUAL(first->access_key, "first");
  EXPECT_EQUAL(first->secret_key, "with=and#and/");
  EXPECT_EQUAL(first->session_token, "");
  EXPECT_EQUAL(CredentialsIn(sections.at("profile two words"))->session_token, "token");
  EXPECT_EQUAL(CredentialsIn(sections.at("profile empty")).has_value(), false);
  EXPECT_FAILS(CredentialsIn(sections.at("profile half")), TF_INVALID_ARGUMENT,
               "one of aws_access_key_id");
  EXPECT_EQUAL(ReadSections("[never closed\na").size(), size_t{1});
}

TEST(AServiceThatGivesNone) {
  for (const auto& [json, why] : std::map<std::string, std::string>{
           {"", "is no JSON"},
           {"[]", "is no JSON"},
           {R"({"Code": "AssumeRole<Denied>", "AccessKeyId": "a"})", "is AssumeRoleDenied"},
           {R"({"AccessKeyId": "a", "SecretAccessKey": 1})", "has no keys"},
           {R"({"AccessKeyId": "a", "SecretAccessKey": "b", "Expiration": "soon"})",
            "until when"}}) {
    EXPECT_FAILS(ReadGrant(json), TF_UNAUTHENTICATED, why);
  }
}

TEST(StsGivesNone) {
  EXPECT_FAILS(ReadRole("<html/>"), TF_UNAUTHENTICATED, "has no keys");
  EXPECT_FAILS(ReadRole(""), TF_UNAUTHENTICATED, "has no keys");
  EXPECT_EQUAL(StsErrorCode("<ErrorResponse><Error><Code>AccessDenied</Code></Error>"
                            "</ErrorResponse>"),
               "AccessDenied");
  EXPECT_EQUAL(StsErrorCode("no XML"), "");
}

TEST(OnlySomeHostsAreToldTheToken) {
  for (const char* url :
       {"https://anywhere/x", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:80/x",
        "http://169.254.170.2/x", "http://169.254.170.23/v1", "http://[fd00:ec2::23]/v1"}) {
    EXPECT_EQUAL(MayHaveToken(url, true) ? url : "no", std::string(url));
  }
  for (const char* url :
       {"http://example.org/x", "http://127.0.0.1.example.org/", "http://127.0.0.1@example.org/",
        "http://169.254.170.200/", "ftp://127.0.0.1/", ""}) {
    EXPECT_EQUAL(MayHaveToken(url, true) ? url : "no", std::string("no"));
  }
  EXPECT_EQUAL(MayHaveToken("http://127.0.0.1/x", false), true);
  EXPECT_EQUAL(MayHaveToken("http://169.254.170.2/x", false), false);
  EXPECT_EQUAL(MayHaveToken("http://[fd00:ec2::23]/x", false), false);
}

// What a source asks, and whom. The services are functions here; the tests of the plugin have
// servers.

// The places of two of the sources.
constexpr int kContainer = 3, kMetadata = 4;

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
