#include "temporary.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "tf_filesystem_plugin.h"

namespace tffs {

std::string TemporaryDirectory() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR", "TMP"}) {
    const char* directory = std::getenv(variable);
    if (directory == nullptr || *directory == '\0' || access(directory, W_OK) != 0) continue;
    const std::string named = directory;
    return named.back() == '/' ? named : named + "/";
  }
  return "/tmp/";
}

}  // namespace tffs

char* TF_GetTempFileName(const char* extension) {
  static std::atomic<unsigned> counter{0};
  // Of names that the runtime makes up the kernel takes one that is free, and makes the file.
  const std::string suffix =
      extension != nullptr && *extension != '\0' ? std::string(".") + extension : "";
  std::string name =
      tffs::TemporaryDirectory() + "tffs_" + std::to_string(++counter) + "_XXXXXX" + suffix;
  const int file = mkstemps(name.data(), static_cast<int>(suffix.size()));
  if (file < 0) {
    TF_Log(TF_FATAL, "no temporary file can be made: %s", name.c_str());
    std::abort();
  }
  close(file);
  return strdup(name.c_str());
}
