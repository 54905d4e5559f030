#include "config.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "failure.h"

namespace dragonfly {
namespace {

using Json = nlohmann::json;

constexpr char kVariable[] = "DRAGONFLY_CONFIG_PATH";

[[noreturn]] void Refuse(const std::string& key, const std::string& why) {
  throw Failure(TF_INVALID_ARGUMENT, "the key " + key + " " + why);
}

// The values of one JSON object. Each is taken out under its name; what is left over in the end is
// a key nobody knows, most likely a misspelt one.
class Section {
 public:
  // `name` is empty for the whole file, and "object_storage." for what is in there.
  Section(const Json& object, std::string name) : name_(std::move(name)) {
    if (!object.is_object()) {
      Refuse(name_.empty() ? "of the file" : name_, "is not an object in braces");
    }
    left_ = object;
  }

  void Text(const char* key, std::string* value) {
    Take(key, &Json::is_string, "is not a text", [&](const Json& json) { *value = json; });
  }

  // A key that also has another name.
  void Text(const char* key, const char* alias, std::string* value) {
    if (left_.contains(key) && left_.contains(alias)) {
      Refuse(name_ + key, "is given twice, as " + std::string(alias) + " too");
    }
    Text(key, value);
    Text(alias, value);
  }

  void Flag(const char* key, bool* value) {
    Take(key, &Json::is_boolean, "is not true or false", [&](const Json& json) { *value = json; });
  }

  template <typename Number>
  void Count(const char* key, Number least, Number most, Number* value) {
    Take(key, &Json::is_number_unsigned, "is not a whole number, 0 or more", [&](const Json& json) {
      const auto number = json.get<uint64_t>();
      if (number < static_cast<uint64_t>(least) || number > static_cast<uint64_t>(most)) {
        Refuse(name_ + key,
               "is not between " + std::to_string(least) + " and " + std::to_string(most));
      }
      *value = static_cast<Number>(number);
    });
  }

  // 0 or more, perhaps a fraction.
  void Seconds(const char* key, double most, double* value) {
    Take(key, &Json::is_number, "is no number of seconds", [&](const Json& json) {
      *value = json;
      if (*value < 0 || *value > most) {
        Refuse(name_ + key, "is not between 0 and " + std::to_string(std::lround(most)));
      }
    });
  }

  void Take(const char* key, bool (Json::*fits)() const noexcept, const char* otherwise,
            const std::function<void(const Json&)>& use) {
    const auto found = left_.find(key);
    if (found == left_.end()) return;
    if (!((*found).*fits)()) Refuse(name_ + key, otherwise);
    use(*found);
    left_.erase(found);
  }

  void End() const {
    if (!left_.empty()) Refuse(name_ + left_.begin().key(), "is not known");
  }

 private:
  std::string name_;
  Json left_;
};

// An address is http or https, a host, and perhaps a port: no path, no user, no password.
void DemandAddress(const std::string& key, std::string* address) {
  if (!address->empty() && address->back() == '/') address->pop_back();
  const size_t mark = address->find("://");
  const std::string scheme = address->substr(0, mark == std::string::npos ? 0 : mark);
  if ((scheme != "http" && scheme != "https") || address->size() == mark + 3 ||
      address->find_first_of("/?#@ ", mark + 3) != std::string::npos) {
    Refuse(key, "is not http://HOST:PORT or https://HOST:PORT");
  }
  // The host is signed as libcurl sends it: in lower case, and without the port that goes without
  // saying.
  std::transform(address->begin(), address->end(), address->begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string port = scheme == "http" ? ":80" : ":443";
  if (address->size() > port.size() &&
      address->compare(address->size() - port.size(), port.size(), port) == 0) {
    address->erase(address->size() - port.size());
  }
}

// Headers go out as they are, so nobody may smuggle in a second one.
void DemandHeader(const std::string& name, const std::string& value) {
  if (name.empty() || name.find_first_of(": \t\r\n") != std::string::npos ||
      value.find_first_of("\r\n") != std::string::npos) {
    Refuse("header", "has what cannot be a header");
  }
}

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void ReadStore(const Json& json, Config* config) {
  Section store(json, "object_storage.");
  std::string type = "s3";
  store.Text("type", &type);
  if (type != "s3") Refuse("object_storage.type", "is not s3, the one type there is");
  store.Text("bucket_name", &config->bucket_name);
  store.Text("region", &config->region);
  store.Text("endpoint", &config->endpoint);
  store.Text("proxy_endpoint", &config->proxy_endpoint);
  store.Text("access_key", "access_key_id", &config->credentials.access_key);
  store.Text("secret_key", "access_key_secret", &config->credentials.secret_key);
  store.Text("session_token", &config->credentials.session_token);
  store.Flag("force_path_style", &config->force_path_style);
  store.End();
}

void ReadAll(const Json& json, Config* config) {
  Section file(json, "");
  file.Text("addr", "proxy", &config->addr);
  file.Take("header", &Json::is_object, "is not an object in braces", [&](const Json& headers) {
    for (const auto& [name, value] : headers.items()) {
      if (!value.is_string()) Refuse("header." + name, "is not a text");
      DemandHeader(name, value);
      // Names in lower case, so that what the plugin sends by itself takes the place of a user's.
      std::string plain = name;
      std::transform(plain.begin(), plain.end(), plain.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      config->header[plain] = value;
    }
  });
  file.Take("filter", &Json::is_array, "is not a list of texts", [&](const Json& names) {
    config->filter.clear();
    for (const Json& name : names) {
      if (!name.is_string()) Refuse("filter", "is not a list of texts");
      DemandHeader("filter", name);
      config->filter.push_back(name);
    }
  });
  file.Take("object_storage", &Json::is_object, "is not an object in braces",
            [&](const Json& store) { ReadStore(store, config); });
  file.Text("ca_file", &config->tls.ca_file);
  file.Text("client_certificate", &config->tls.client_certificate);
  file.Text("client_key", &config->tls.client_key);
  file.Text("cache_dir", &config->cache_dir);
  file.Count<uint64_t>("cache_max_bytes", 0, INT64_MAX, &config->cache_max_bytes);
  file.Count<uint64_t>("whole_object_below", 0, INT64_MAX, &config->whole_object_below);
  file.Count<uint64_t>("read_ahead", 0, 1 << 30, &config->read_ahead);
  file.Count("sign_expires_s", 1, 604800, &config->sign_expires_s);
  file.Flag("require_p2p", &config->require_p2p);
  file.Flag("fallback_to_source", &config->fallback_to_source);
  std::string version = "etag";
  file.Text("task_version", &version);
  if (version != "etag" && version != "none") Refuse("task_version", "is neither etag nor none");
  config->tag_with_etag = version == "etag";
  std::string verify = "all";
  file.Text("verify", &verify);
  if (verify != "all" && verify != "checksum" && verify != "none") {
    Refuse("verify", "is neither all nor checksum nor none");
  }
  config->verify = verify == "all"        ? Verify::kAll
                   : verify == "checksum" ? Verify::kChecksum
                                          : Verify::kNone;
  file.Count("max_connections", 1, 1024, &config->max_connections);
  file.Count("connect_timeout_s", 1, 3600, &config->connect_timeout_s);
  file.Count("stall_timeout_s", 1, 86400, &config->stall_timeout_s);
  file.Seconds("retry_deadline_s", 86400, &config->retry_deadline_s);
  file.Count("list_max_pages", 1, INT_MAX, &config->list_max_pages);
  file.Seconds("metadata_ttl_s", 86400, &config->metadata_ttl_s);
  // What S3 takes of parts.
  file.Count("copy_part_bytes", uint64_t{5} << 20, uint64_t{5} << 30, &config->copy_part_bytes);
  file.End();
}

void Complete(Config* config) {
  if (config->addr.empty()) Refuse("addr", "is missing");
  DemandAddress("addr", &config->addr);
  if (config->endpoint.empty()) {
    config->endpoint = "https://s3." + config->region + ".amazonaws.com" +
                       (config->region.rfind("cn-", 0) == 0 ? ".cn" : "");
  }
  DemandAddress("object_storage.endpoint", &config->endpoint);
  if (config->proxy_endpoint.empty()) {
    // dfdaemon can do nothing for a connection that it does not see into.
    if (config->endpoint.rfind("https://", 0) == 0) {
      Refuse("object_storage.proxy_endpoint",
             "is missing, and the endpoint is https: set it to http://HOST, with a rule of "
             "dfdaemon's that has useTLS, or to https://HOST where dfdaemon has a CA of its own "
             "that ca_file names");
    }
    config->proxy_endpoint = config->endpoint;
  }
  DemandAddress("object_storage.proxy_endpoint", &config->proxy_endpoint);

  // All of them or none: a key of one source and the token of another do not belong together.
  const Credentials& credentials = config->credentials;
  const bool has_any = !credentials.access_key.empty() || !credentials.secret_key.empty() ||
                       !credentials.session_token.empty();
  if (has_any && credentials.access_key.empty()) Refuse("object_storage.access_key", "is missing");
  if (has_any && credentials.secret_key.empty()) Refuse("object_storage.secret_key", "is missing");

  Demand(config->tls);
  if (config->cache_dir.empty()) config->cache_dir = FromEnvironment("TMPDIR");
  if (config->cache_dir.empty()) config->cache_dir = "/tmp";
  struct stat facts;
  if (stat(config->cache_dir.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
    Refuse("cache_dir", "names no directory");
  }
}

}  // namespace

Config ParseConfig(const std::string& text) {
  Config config;
  // The parser's own messages quote the file, which holds secrets.
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Failure(TF_INVALID_ARGUMENT, "the file is no JSON");
  ReadAll(json, &config);
  Complete(&config);
  return config;
}

Config ReadConfig() {
  const std::string path = FromEnvironment(kVariable);
  if (path.empty()) {
    throw Failure(TF_NOT_FOUND, std::string(kVariable) + " is not set: it names the configuration");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Failure(TF_NOT_FOUND, std::string(kVariable) + " names " + path + ", which is not there");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    return ParseConfig(text);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), path + ": " + failure.what());
  }
}

}  // namespace dragonfly
