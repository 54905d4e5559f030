#include "names.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "failure.h"
#include "support/memory.h"
#include "support/paths.h"
#include "text.h"

namespace objectstore {
namespace {

// What follows "scheme://", or NULL.
const char* BehindScheme(const Plugin& plugin, const char* uri) {
  const size_t length = std::strlen(plugin.scheme);
  const bool is_ours =
      std::strncmp(uri, plugin.scheme, length) == 0 && std::strncmp(uri + length, "://", 3) == 0;
  return is_ours ? uri + length + 3 : nullptr;
}

[[noreturn]] void Refuse(const char* why) { throw Failure(TF_INVALID_ARGUMENT, why); }

void DemandBucket(const std::string& bucket) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (bucket.front() == '.' || bucket.find_first_not_of(kLetters) != std::string::npos) {
    Refuse("no bucket has such a name");
  }
}

// Keys are UTF-8: a store that is given other bytes makes replacement characters of them, or fails
// to recognise the signature.
bool IsUtf8(std::string_view text) {
  for (size_t k = 0; k < text.size();) {
    const auto lead = static_cast<unsigned char>(text[k++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xc2 && lead < 0xe0   ? 1
                     : lead >= 0xe0 && lead < 0xf0 ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : 0;
    if (more == 0) return false;
    for (int left = more; left > 0; --left, ++k) {
      if (k == text.size()) return false;
      const auto byte = static_cast<unsigned char>(text[k]);
      // The second byte also says that nothing shorter would do, and that this is no surrogate.
      const bool second = left == more;
      const unsigned char least = !second ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
      const unsigned char most = !second ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
      if (byte < least || byte > most) return false;
    }
  }
  return true;
}

// Proxies and stores take these components away, and would lead to another object.
void DemandKey(const std::string& key) {
  constexpr size_t kMost = 1023;  // S3 takes 1,024 bytes, and a marker is one longer
  if (key.size() > kMost) Refuse("the key is too long");
  if (!IsUtf8(key)) Refuse("the key is not UTF-8");
  // Listings are XML. A store may be asked to encode keys, but not every store does, and then the
  // name that is listed is another one.
  if (!IsXml(key)) Refuse("the key has a control character");
  for (size_t first = 0; first <= key.size();) {
    const size_t slash = std::min(key.find('/', first), key.size());
    const std::string component = key.substr(first, slash - first);
    if (component.empty()) Refuse("a key has no empty component");
    if (component == "." || component == "..") Refuse("a key has no component . or ..");
    first = slash + 1;
  }
}

}  // namespace

const char* LocalPath(const Plugin& plugin, const char* path) {
  const char* rest = BehindScheme(plugin, path);
  if (rest == nullptr) return path;
  return *rest == '/' || *rest == '\0' ? rest : nullptr;
}

Name ObjectName(const Config& config, const char* path) {
  const std::string rest = BehindScheme(config.plugin, path);
  const size_t slash = rest.find('/');
  Name name = {rest.substr(0, slash), ""};
  if (slash != std::string::npos) name.key = rest.substr(slash + 1);
  DemandBucket(name.bucket);
  if (!name.key.empty()) DemandKey(name.key);
  if (!config.bucket_name.empty() && name.bucket != config.bucket_name) {
    throw Failure(TF_NOT_FOUND, "the configuration names another bucket");
  }
  return name;
}

std::string Inside(const Name& directory) {
  return directory.key.empty() ? "" : directory.key + "/";
}

Name ParentOf(const Name& name) {
  const size_t slash = name.key.rfind('/');
  return {name.bucket, slash == std::string::npos ? "" : name.key.substr(0, slash)};
}

char* TranslatedName(const Plugin& plugin, const char* uri) noexcept {
  try {
    const support::Uri parts = support::ParseUri(uri);
    const char* rest = BehindScheme(plugin, uri);
    if (rest == nullptr || parts.prefix.size() <= static_cast<size_t>(rest - uri)) {
      return support::TranslateName(nullptr, uri);
    }
    return support::CopyString(std::string(parts.prefix) +
                               support::CleanPath(parts.path.empty() ? "/" : parts.path));
  } catch (const std::exception&) {
    return nullptr;  // no memory, and the op has no status to say so
  }
}

}  // namespace objectstore
