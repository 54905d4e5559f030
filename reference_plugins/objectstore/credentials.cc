#include "credentials.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "answers.h"
#include "failure.h"
#include "text.h"
#include "times.h"

namespace objectstore {
namespace {

// Without what stands behind a blank and a mark of comments.
std::string WithoutComment(const std::string& text) {
  for (size_t k = 1; k < text.size(); ++k) {
    const bool is_mark = text[k] == '#' || text[k] == ';';
    if (is_mark && (text[k - 1] == ' ' || text[k - 1] == '\t')) return text.substr(0, k);
  }
  return text;
}

// `[profile "a name"]` and `[ profile  a name ]` are one: what is between the brackets, without
// quotes, its words apart by one blank.
std::string SectionName(const std::string& line) {
  std::string inside = line.substr(1, line.find(']') - 1);
  inside.erase(std::remove(inside.begin(), inside.end(), '"'), inside.end());
  std::istringstream words(inside);
  std::string name;
  for (std::string word; words >> word;) name += (name.empty() ? "" : " ") + word;
  return name;
}

Grant Complete(Credentials keys, const std::string& expires) {
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    throw Failure(TF_UNAUTHENTICATED, "the answer has no keys");
  }
  Grant grant = {std::move(keys)};
  if (!expires.empty()) {
    const int64_t time = TimeOf(expires);
    if (time <= 0) throw Failure(TF_UNAUTHENTICATED, "the answer does not say until when");
    grant.expires = static_cast<double>(time) / 1e9;
  }
  return grant;
}

}  // namespace

Environment Environment::OfProcess() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t mark = text.find('=');
    if (mark == std::string::npos) continue;
    const std::string name = text.substr(0, mark);
    if (name == "HOME" || name.rfind("AWS_", 0) == 0) values[name] = text.substr(mark + 1);
  }
  return Environment(std::move(values));
}

std::string Environment::Get(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() || found->second.empty() ? otherwise : found->second;
}

std::map<std::string, Settings> ReadSections(const std::string& text) {
  std::map<std::string, Settings> sections;
  Settings* section = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // What begins with a blank is a part of the setting above it, and none of those here has parts.
    if (line.empty() || std::string("#; \t\r").find(line[0]) != std::string::npos) continue;
    if (line[0] == '[') {
      section = &sections[SectionName(line)];
      continue;
    }
    const size_t mark = line.find('=');
    if (section == nullptr || mark == std::string::npos) continue;
    (*section)[Lower(Trimmed(line.substr(0, mark)))] =
        Trimmed(WithoutComment(line.substr(mark + 1)));
  }
  return sections;
}

std::optional<Credentials> CredentialsIn(const Settings& profile) {
  const auto get = [&](const char* name) {
    const auto found = profile.find(name);
    return found == profile.end() ? "" : found->second;
  };
  const Credentials keys = {get("aws_access_key_id"), get("aws_secret_access_key"),
                            get("aws_session_token")};
  if (keys.access_key.empty() && keys.secret_key.empty()) return std::nullopt;
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    throw Failure(TF_INVALID_ARGUMENT,
                  "the profile has one of aws_access_key_id and aws_secret_access_key only");
  }
  return keys;
}

Grant ReadGrant(const std::string& json) {
  // The parser's own messages quote the text.
  const nlohmann::json answer = nlohmann::json::parse(json, nullptr, false);
  if (!answer.is_object()) throw Failure(TF_UNAUTHENTICATED, "the answer is no JSON with keys");
  const auto get = [&](const char* name) {
    const auto found = answer.find(name);
    return found == answer.end() || !found->is_string() ? "" : found->get<std::string>();
  };
  const std::string code = get("Code");
  if (!code.empty() && code != "Success") {
    throw Failure(TF_UNAUTHENTICATED, "the answer is " + Word(code));
  }
  return Complete({get("AccessKeyId"), get("SecretAccessKey"), get("Token")}, get("Expiration"));
}

Grant ReadRole(const std::string& xml) {
  pugi::xml_document document;
  document.load_buffer(xml.data(), xml.size());
  const pugi::xml_node keys = document.child("AssumeRoleWithWebIdentityResponse")
                                  .child("AssumeRoleWithWebIdentityResult")
                                  .child("Credentials");
  return Complete(
      {keys.child("AccessKeyId").text().get(), keys.child("SecretAccessKey").text().get(),
       keys.child("SessionToken").text().get()},
      keys.child("Expiration").text().get());
}

std::string StsErrorCode(const std::string& xml) {
  pugi::xml_document document;
  document.load_buffer(xml.data(), xml.size());
  return Word(document.child("ErrorResponse").child("Error").child("Code").text().get());
}

bool MayHaveToken(const std::string& url, bool of_container) {
  if (url.rfind("https://", 0) == 0) return true;
  if (url.rfind("http://", 0) != 0) return false;
  std::string host = url.substr(7, url.find_first_of("/?#", 7) - 7);
  if (host.find('@') != std::string::npos) return false;
  if (!host.empty() && host[0] == '[') {
    host = host.substr(0, host.find(']') + 1);
    return host == "[::1]" || (of_container && host == "[fd00:ec2::23]");
  }
  host = host.substr(0, host.find(':'));
  const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || (is_number && host.rfind("127.", 0) == 0) ||
         (of_container && (host == "169.254.170.2" || host == "169.254.170.23"));
}

}  // namespace objectstore
