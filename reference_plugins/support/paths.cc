#include "support/paths.h"

#include <exception>

#include "support/memory.h"

namespace support {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Uri ParseUri(std::string_view name) {
  constexpr std::string_view kMark = "://";
  size_t length = 0;
  while (length < name.size() && (IsLetter(name[length]) ||
                                  (length > 0 && (IsDigit(name[length]) || name[length] == '.')))) {
    ++length;
  }
  if (length == 0 || name.substr(length, kMark.size()) != kMark) return {{}, name};
  const size_t slash = name.find('/', length + kMark.size());
  if (slash == std::string_view::npos) return {name, {}};
  return {name.substr(0, slash), name.substr(slash)};
}

std::vector<std::string_view> Components(std::string_view path) {
  const bool absolute = !path.empty() && path.front() == '/';
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      kept.push_back(component);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!absolute) {
      kept.push_back(component);  // nothing lies above the root, but much above a relative path
    }
  }
  return kept;
}

std::string CleanPath(std::string_view path) {
  const bool absolute = !path.empty() && path.front() == '/';
  std::string clean;
  for (const std::string_view component : Components(path)) {
    if (absolute || !clean.empty()) clean += '/';
    clean += component;
  }
  if (clean.empty()) clean = absolute ? "/" : ".";
  return clean;
}

std::string ParentOf(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  const size_t slash = path.find_last_of('/', last);
  if (last == std::string::npos || slash == 0) return path.empty() ? "." : "/";
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

char* TranslateName(const TF_Filesystem*, const char* uri) noexcept {
  try {
    const Uri parts = ParseUri(uri);
    // A URI that is only a host means that host's root; the empty name stays what it is.
    if (parts.path.empty()) return CopyString(parts.prefix.empty() ? "" : "/");
    return CopyString(CleanPath(parts.path));
  } catch (const std::exception&) {
    return nullptr;  // no memory, and the op has no status to say so
  }
}

}  // namespace support
