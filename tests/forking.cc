// `forking RUNTIME PLUGIN`: two threads use a plugin without a pause, and children of fork use it,
// too. Ends with 0 where each child comes back, and with 1 where one does not.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace {

constexpr int kChildren = 100;
constexpr unsigned kSeconds = 60;  // after which a child does not come back
const char kPath[] = "/file";

struct Plugin {
  TF_FilesystemPluginOps ops;
  TF_Filesystem filesystem = {};
  TF_WritableFile file = {};
};

void Append(const Plugin& plugin, const std::vector<char>& bytes, TF_Status* status) {
  plugin.ops.writable_file_ops->append(&plugin.file, bytes.data(), bytes.size(), status);
}

// What takes each lock of the plugin.
void Use(Plugin* plugin, TF_Status* status) {
  Append(*plugin, std::vector<char>(1), status);
  plugin->ops.filesystem_ops->path_exists(&plugin->filesystem, kPath, status);
  plugin->ops.filesystem_ops->get_file_size(&plugin->filesystem, kPath, status);
}

}  // namespace

int main(int, char** arguments) {
  dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  void* library = dlopen(arguments[2], RTLD_NOW);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  TF_FilesystemPluginInfo info = {};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  Plugin plugin{info.ops[0]};
  TF_Status* status = TF_NewStatus();
  plugin.ops.filesystem_ops->init(&plugin.filesystem, status);
  plugin.ops.filesystem_ops->new_writable_file(&plugin.filesystem, kPath, &plugin.file, status);
  std::atomic<bool> done{false};
  std::thread appends([&] {
    TF_Status* of_thread = TF_NewStatus();
    // Nothing, so that the file does not grow.
    while (!done) Append(plugin, {}, of_thread);
    TF_DeleteStatus(of_thread);
  });
  std::thread asks([&] {
    TF_Status* of_thread = TF_NewStatus();
    while (!done) plugin.ops.filesystem_ops->path_exists(&plugin.filesystem, kPath, of_thread);
    TF_DeleteStatus(of_thread);
  });
  int failed = 0;
  for (int k = 0; k < kChildren && failed == 0; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kSeconds);
      Use(&plugin, status);
      _exit(0);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    if (ended != 0) failed = 1;
  }
  done = true;
  appends.join();
  asks.join();
  return failed;
}
