#include "config.h"

#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

#include "failure.h"
#include "section.h"

namespace objectstore {
namespace {

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void ReadStore(const Json& json, const MoreKeys& more, Config* config) {
  Section store(json, "object_storage.");
  std::string type = "s3";
  store.Text("type", &type);
  if (type != "s3") Refuse("object_storage.type", "is not s3, the one type there is");
  store.Text("bucket_name", &config->bucket_name);
  store.Text("region", &config->region);
  store.Text("endpoint", &config->endpoint);
  store.Text("access_key", "access_key_id", &config->credentials.access_key);
  store.Text("secret_key", "access_key_secret", &config->credentials.secret_key);
  store.Text("session_token", &config->credentials.session_token);
  store.Flag("force_path_style", &config->force_path_style);
  if (more.in_storage) more.in_storage(&store);
  store.End();
}

void ReadAll(const Json& json, const MoreKeys& more, Config* config) {
  Section file(json, "");
  file.Take("object_storage", &Json::is_object, "is not an object in braces",
            [&](const Json& store) { ReadStore(store, more, config); });
  file.Text("ca_file", &config->tls.ca_file);
  file.Text("client_certificate", &config->tls.client_certificate);
  file.Text("client_key", &config->tls.client_key);
  file.Text("cache_dir", &config->cache_dir);
  file.Count<uint64_t>("cache_max_bytes", 0, INT64_MAX, &config->cache_max_bytes);
  file.Count<uint64_t>("whole_object_below", 0, INT64_MAX, &config->whole_object_below);
  file.Count<uint64_t>("read_ahead", 0, 1 << 30, &config->read_ahead);
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
  // What S3 takes of parts, also of such a part in two.
  file.Count("copy_part_bytes", uint64_t{10} << 20, uint64_t{5} << 30, &config->copy_part_bytes);
  if (more.in_file) more.in_file(&file);
  file.End();
}

void Complete(Config* config) {
  if (config->endpoint.empty()) {
    config->endpoint = "https://s3." + config->region + ".amazonaws.com" +
                       (config->region.rfind("cn-", 0) == 0 ? ".cn" : "");
  }
  DemandAddress("object_storage.endpoint", &config->endpoint);

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

Config ParseConfig(const Plugin& plugin, const std::string& text, const MoreKeys& more) {
  Config config;
  config.plugin = plugin;
  // The parser's own messages quote the file, which holds secrets.
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Failure(TF_INVALID_ARGUMENT, "the file is no JSON");
  ReadAll(json, more, &config);
  Complete(&config);
  return config;
}

void ReadConfigFile(const Plugin& plugin,
                    const std::function<void(const std::string& text)>& parse) {
  const std::string path = FromEnvironment(plugin.variable);
  if (path.empty()) {
    throw Failure(TF_NOT_FOUND,
                  std::string(plugin.variable) + " is not set: it names the configuration");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == ENOMEM) throw std::bad_alloc();
  if (!file) {
    throw Failure(TF_NOT_FOUND,
                  std::string(plugin.variable) + " names " + path + ", which is not there");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    parse(text);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), path + ": " + failure.what());
  }
}

}  // namespace objectstore
