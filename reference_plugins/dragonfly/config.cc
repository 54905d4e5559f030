#include "dragonfly/config.h"

#include "objectstore/section.h"
#include "objectstore/text.h"

namespace dragonfly {
namespace {

using objectstore::DemandAddress;
using objectstore::Json;
using objectstore::Refuse;
using objectstore::Section;

// Headers go out as they are, so nobody may smuggle in a second one.
void DemandHeader(const std::string& name, const std::string& value) {
  if (name.empty() || name.find_first_of(": \t\r\n") != std::string::npos ||
      value.find_first_of("\r\n") != std::string::npos) {
    Refuse("header", "has what cannot be a header");
  }
}

void ReadKeys(Section* file, Config* config) {
  file->Text("addr", "proxy", &config->addr);
  file->Take("header", &Json::is_object, "is not an object in braces", [&](const Json& headers) {
    for (const auto& [name, value] : headers.items()) {
      if (!value.is_string()) Refuse("header." + name, "is not a text");
      DemandHeader(name, value);
      // Names in lower case, so that what the plugin sends by itself takes the place of a user's.
      config->header[objectstore::Lower(name)] = value;
    }
  });
  file->Take("filter", &Json::is_array, "is not a list of texts", [&](const Json& names) {
    config->filter.clear();
    for (const Json& name : names) {
      if (!name.is_string()) Refuse("filter", "is not a list of texts");
      DemandHeader("filter", name);
      config->filter.push_back(name);
    }
  });
  file->Count("sign_expires_s", 1, 604800, &config->sign_expires_s);
  file->Flag("require_p2p", &config->require_p2p);
  file->Flag("fallback_to_source", &config->fallback_to_source);
  std::string version = "etag";
  file->Text("task_version", &version);
  if (version != "etag" && version != "none") Refuse("task_version", "is neither etag nor none");
  config->tag_with_etag = version == "etag";
}

void Complete(Config* config) {
  if (config->addr.empty()) Refuse("addr", "is missing");
  DemandAddress("addr", &config->addr);
  if (config->proxy_endpoint.empty()) {
    // dfdaemon can do nothing for a connection that it does not see into.
    if (config->store.endpoint.rfind("https://", 0) == 0) {
      Refuse("object_storage.proxy_endpoint",
             "is missing, and the endpoint is https: set it to http://HOST, with a rule of "
             "dfdaemon's that has useTLS, or to https://HOST where dfdaemon has a CA of its own "
             "that ca_file names");
    }
    config->proxy_endpoint = config->store.endpoint;
  }
  DemandAddress("object_storage.proxy_endpoint", &config->proxy_endpoint);
}

}  // namespace

Config ReadConfig(const objectstore::Plugin& plugin) {
  Config config;
  objectstore::MoreKeys more;
  more.in_file = [&](Section* file) { ReadKeys(file, &config); };
  more.in_storage = [&](Section* store) { store->Text("proxy_endpoint", &config.proxy_endpoint); };
  objectstore::ReadConfigFile(plugin, [&](const std::string& text) {
    config.store = objectstore::ParseConfig(plugin, text, more);
    Complete(&config);
  });
  return config;
}

}  // namespace dragonfly
