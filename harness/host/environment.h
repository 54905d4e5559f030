// The end of a host whose environment is at fault, and not the plugin.
#ifndef TFFS_HOST_ENVIRONMENT_H_
#define TFFS_HOST_ENVIRONMENT_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tffs {

// The client tells it from what a plugin ends with.
constexpr int kBrokenEnvironment = 71;

// `why` is one sentence for the user.
[[noreturn]] inline void EndForEnvironment(const std::string& why) {
  std::fprintf(stderr, "tffs-host: %s\n", why.c_str());
  std::exit(kBrokenEnvironment);
}

}  // namespace tffs

#endif  // TFFS_HOST_ENVIRONMENT_H_
