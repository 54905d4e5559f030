#include "search.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace loader {
namespace {

void* Open(const char* name, int flags) {
  const auto next = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(name, flags);
}

link_map* ObjectAt(const void* address) {
  Dl_info info;
  void* object = nullptr;
  if (dladdr1(address, &info, &object, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map*>(object);
}

// The directories in which the names that an object asks for are looked up, in order; all but those
// of the system's cache.
class Directories {
 public:
  explicit Directories(link_map* object) {
    Dl_serinfo size;
    if (dlinfo(object, RTLD_DI_SERINFOSIZE, &size) != 0) return;
    list_ = static_cast<Dl_serinfo*>(std::calloc(1, size.dls_size));
    if (list_ == nullptr) return;
    list_->dls_size = size.dls_size;
    list_->dls_cnt = size.dls_cnt;
    if (dlinfo(object, RTLD_DI_SERINFO, list_) == 0) count_ = list_->dls_cnt;
  }
  ~Directories() { std::free(list_); }
  Directories(const Directories&) = delete;

  unsigned count() const { return count_; }
  const char* operator[](unsigned k) const { return list_->dls_serpath[k].dls_name; }

  // How many are left of the front when what both end with is taken away.
  unsigned BeforeCommonEndWith(const Directories& other) const {
    unsigned common = 0;
    while (common < count_ && common < other.count_ &&
           std::strcmp((*this)[count_ - 1 - common], other[other.count_ - 1 - common]) == 0) {
      ++common;
    }
    return count_ - common;
  }

 private:
  Dl_serinfo* list_ = nullptr;
  unsigned count_ = 0;
};

// `name` with $ORIGIN or ${ORIGIN} at its front replaced by the directory of `caller`.
const char* WithOrigin(link_map* caller, const char* name, char (&expanded)[PATH_MAX]) {
  char origin[PATH_MAX];
  for (const char* mark : {"$ORIGIN/", "${ORIGIN}/"}) {
    const size_t length = std::strlen(mark);
    if (std::strncmp(name, mark, length) != 0) continue;
    if (dlinfo(caller, RTLD_DI_ORIGIN, origin) != 0) break;
    const int size = std::snprintf(expanded, sizeof expanded, "%s/%s", origin, name + length);
    if (size < static_cast<int>(sizeof expanded)) return expanded;
  }
  return name;
}

}  // namespace

void* OpenFor(const void* caller, const char* name, int flags) {
  link_map* object = ObjectAt(caller);
  if (name == nullptr || object == nullptr) return Open(name, flags);
  char path[PATH_MAX];
  if (std::strchr(name, '/') != nullptr) return Open(WithOrigin(object, name, path), flags);
  const Directories callers(object);
  const Directories own(ObjectAt(reinterpret_cast<const void*>(&OpenFor)));
  const unsigned callers_alone = callers.BeforeCommonEndWith(own);
  if (callers_alone == 0) return Open(name, flags);
  // A library that is there already, under that name, is taken wherever it came from.
  if (void* library = Open(name, flags | RTLD_NOLOAD)) return library;
  for (unsigned k = 0; k < callers_alone; ++k) {
    const int size = std::snprintf(path, sizeof path, "%s/%s", callers[k], name);
    if (size >= static_cast<int>(sizeof path) || access(path, F_OK) != 0) continue;
    if (void* library = Open(path, flags)) return library;
  }
  return Open(name, flags);
}

}  // namespace loader
