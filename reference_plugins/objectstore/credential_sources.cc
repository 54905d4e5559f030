#include "credential_sources.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <utility>

#include "answers.h"
#include "text.h"

namespace objectstore {
namespace {

// Reads a file anew each time: tokens and keys are replaced while a process runs. Nothing where it
// cannot be read. What is longer than any such file is cut.
std::optional<std::string> ReadFile(const std::string& path) {
  constexpr std::streamsize kMost = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMost, '\0');
  file.read(text.data(), kMost);
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// The one token in a file that a variable names.
std::string ReadToken(const std::string& variable, const std::string& path) {
  std::string token = ReadFile(path).value_or("");
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty() || token.find_first_of("\r\n") != std::string::npos) {
    throw Failure(TF_FAILED_PRECONDITION, variable + " names " + path + ", which holds no token");
  }
  return token;
}

// The answer of a service, which is called `who`, where it is 200.
Response Answered(const Ask& ask, Request request, const char* who) {
  request.who = who;
  request.most_text = 1 << 20;
  Response response = ask(request);
  if (response.status == 200) return response;
  const std::string code = StsErrorCode(response.body);
  const std::string text = std::string(who) + " answers " + std::to_string(response.status) +
                           (code.empty() ? "" : " " + code);
  // STS, too, asks somebody who may be busy.
  if (MayPass(response) || code == "IDPCommunicationError") {
    throw Disconnected(TF_UNAVAILABLE, text, true, true);
  }
  throw Failure(TF_UNAUTHENTICATED, text);
}

// What `read` makes of an answer; its failures say whose answer it was.
template <typename Read>
Offer Understood(const std::string& who, Read read) {
  try {
    return {read(), ""};
  } catch (const Failure& failure) {
    throw Failure(failure.code(), who + ": " + failure.what());
  }
}

Offer OfEnvironment(const Environment& environment) {
  const Credentials keys = {environment.Get("AWS_ACCESS_KEY_ID"),
                            environment.Get("AWS_SECRET_ACCESS_KEY"),
                            environment.Get("AWS_SESSION_TOKEN")};
  if (keys.access_key.empty() && keys.secret_key.empty()) {
    return {std::nullopt, "AWS_ACCESS_KEY_ID is not set"};
  }
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    throw Failure(TF_INVALID_ARGUMENT,
                  "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set");
  }
  return {Grant{keys}, ""};
}

Offer OfSharedFiles(const Environment& environment) {
  const std::string folder = environment.Get("HOME", "/") + "/.aws/";
  const std::string credentials =
      environment.Get("AWS_SHARED_CREDENTIALS_FILE", folder + "credentials");
  const std::string config = environment.Get("AWS_CONFIG_FILE", folder + "config");
  const std::string name = environment.Get("AWS_PROFILE", "default");

  // The file of credentials counts first. The other one has profiles among other sections.
  const std::pair<std::string, std::string> places[] = {
      {credentials, name}, {config, "profile " + name}, {config, name == "default" ? name : ""}};
  bool is_there = false;
  std::string unknown;
  for (const auto& [path, section] : places) {
    const auto sections = ReadSections(ReadFile(path).value_or(""));
    const auto found = sections.find(section);
    if (section.empty() || found == sections.end()) continue;
    is_there = true;
    const Offer offer = Understood(path, [&]() -> std::optional<Grant> {
      const auto keys = CredentialsIn(found->second);
      if (!keys) return std::nullopt;
      return Grant{*keys};
    });
    if (offer.grant) return offer;
    for (const char* other : {"role_arn", "sso_session", "sso_start_url", "credential_process"}) {
      if (found->second.count(other) > 0) unknown = other;
    }
  }
  std::string why = "the profile " + name + " is " + (is_there ? "without keys" : "not") + " in " +
                    credentials + " and " + config;
  if (!unknown.empty()) why += " (" + unknown + " is not known to this plugin)";
  if (!environment.Has("AWS_PROFILE")) return {std::nullopt, why};
  throw Failure(TF_INVALID_ARGUMENT, why + ", and AWS_PROFILE names it");
}

Offer OfWebIdentity(const Plugin& plugin, const Environment& environment, const std::string& region,
                    const Ask& ask) {
  const std::string path = environment.Get("AWS_WEB_IDENTITY_TOKEN_FILE");
  const std::string role = environment.Get("AWS_ROLE_ARN");
  if (path.empty())
    return {std::nullopt, "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are not set"};
  if (role.empty()) {
    throw Failure(TF_INVALID_ARGUMENT, "AWS_WEB_IDENTITY_TOKEN_FILE is set, AWS_ROLE_ARN is not");
  }
  const std::string place =
      environment.Get("AWS_REGION", environment.Get("AWS_DEFAULT_REGION", region));
  Request request;
  request.method = "POST";
  request.url =
      environment.Get("AWS_ENDPOINT_URL_STS", "https://sts." + place + ".amazonaws.com" +
                                                  (place.rfind("cn-", 0) == 0 ? ".cn" : ""));
  if (!MayHaveToken(request.url, false)) {
    throw Failure(TF_INVALID_ARGUMENT, "AWS_ENDPOINT_URL_STS is neither https nor on this machine");
  }
  if (request.url.find('/', request.url.find("://") + 3) == std::string::npos) request.url += "/";
  request.headers = {{"content-type", "application/x-www-form-urlencoded"},
                     {"accept", "application/xml"}};
  request.body.text =
      QueryString({{"Action", "AssumeRoleWithWebIdentity"},
                   {"Version", "2011-06-15"},
                   {"RoleArn", role},
                   {"RoleSessionName", environment.Get("AWS_ROLE_SESSION_NAME",
                                                       std::string(plugin.scheme) + "-" +
                                                           std::to_string(std::time(nullptr)))},
                   {"WebIdentityToken", ReadToken("AWS_WEB_IDENTITY_TOKEN_FILE", path)}});
  const Response response = Answered(ask, request, "STS");
  return Understood("STS", [&] { return ReadRole(response.body); });
}

Offer OfContainer(const Environment& environment, const Ask& ask) {
  constexpr char kWho[] = "the container's credential service";
  const std::string relative = environment.Get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = environment.Get("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (relative.empty() && full.empty()) {
    return {std::nullopt,
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI are not "
            "set"};
  }
  Request request;
  request.method = "GET";
  request.url = relative.empty() ? full : "http://169.254.170.2" + relative;
  if (!MayHaveToken(request.url, true)) {
    throw Failure(TF_INVALID_ARGUMENT,
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine");
  }
  std::string token = environment.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string path = environment.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!path.empty()) token = ReadToken("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path);
  if (token.find_first_of("\r\n") != std::string::npos) {
    throw Failure(TF_INVALID_ARGUMENT, "AWS_CONTAINER_AUTHORIZATION_TOKEN has more than one line");
  }
  request.headers["accept"] = "application/json";
  if (!token.empty()) request.headers["authorization"] = token;
  const Response response = Answered(ask, request, kWho);
  return Understood(kWho, [&] { return ReadGrant(response.body); });
}

// Version 2 of the service only: the first one gives keys to whoever makes a process send a GET.
class InstanceMetadata {
 public:
  InstanceMetadata(const Environment& environment, Ask ask) : ask_(std::move(ask)) {
    const bool is_ipv6 = environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "IPv6";
    url_ = environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT",
                           is_ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254");
    if (url_.back() == '/') url_.pop_back();
    is_disabled_ = Lower(environment.Get("AWS_EC2_METADATA_DISABLED")) == "true";
  }

  Offer Fetch() {
    if (is_disabled_) return {std::nullopt, "AWS_EC2_METADATA_DISABLED is set"};
    Request request;
    request.method = "PUT";
    request.url = url_ + "/latest/api/token";
    request.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    std::string token;
    try {
      token = Answered(ask_, request, kWho).body;
    } catch (const Failure& failure) {
      // It is asked by everybody who has nothing else, and most of them are not on EC2.
      if (was_there_) throw;
      return {std::nullopt, failure.what()};
    }
    if (token.empty() || token.find_first_of("\r\n") != std::string::npos) {
      throw Failure(TF_UNAUTHENTICATED, std::string(kWho) + " gives no token");
    }
    request.method = "GET";
    request.url = url_ + "/latest/meta-data/iam/security-credentials/";
    request.headers = {{"x-aws-ec2-metadata-token", token}};
    std::string role;
    try {
      role = Answered(ask_, request, kWho).body;
    } catch (const Disconnected&) {
      throw;
    } catch (const Failure&) {
      if (was_there_) throw;
      return {std::nullopt, "the instance has no role"};
    }
    role.erase(std::min(role.find_first_of("\r\n"), role.size()));
    request.url += Encoded(role);
    const Response response = Answered(ask_, request, kWho);
    const Offer offer = Understood(kWho, [&] { return ReadGrant(response.body); });
    was_there_ = true;
    return offer;
  }

 private:
  static constexpr char kWho[] = "the instance metadata service";
  const Ask ask_;
  std::string url_;
  bool is_disabled_ = false;
  bool was_there_ = false;
};

}  // namespace

std::vector<Source> Sources(const Plugin& plugin, const Environment& environment,
                            const std::string& region, const Ask& ask) {
  const auto metadata = std::make_shared<InstanceMetadata>(environment, ask);
  return {{[=] { return OfEnvironment(environment); }, false},
          {[=] { return OfSharedFiles(environment); }, true},
          {[=] { return OfWebIdentity(plugin, environment, region, ask); }, true},
          {[=] { return OfContainer(environment, ask); }, true},
          {[=] { return metadata->Fetch(); }, true}};
}

}  // namespace objectstore
