// A process that has a plugin, and children of fork of it:
//
// `forking locks RUNTIME PLUGIN`: two threads use the plugin without a pause, and children use it,
// too.
// `forking reads RUNTIME PLUGIN URI SOCKETS`: one thread is in the midst of a read when a line
// comes on standard input. Then a child reads the same file, and has so many sockets.
// `forking writes RUNTIME PLUGIN URI BYTES`: appends so many bytes. After a line on standard input
// a child can do nothing with the file, and finds no object of that name. Then the parent appends
// as many bytes again, and closes the file.
//
// Prints `well` where each child comes back with what it should have, before the parent goes on.
// Ends with 0 where the parent, too, gets what it should.

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "tf_filesystem_plugin.h"

namespace {

constexpr int kChildren = 100;
constexpr unsigned kSeconds = 60;  // after which a child does not come back

// The code of an op, all of whose arguments are these and a status.
template <typename Op, typename... Arguments>
TF_Code Call(Op* op, Arguments... arguments) {
  TF_Status* status = TF_NewStatus();
  op(arguments..., status);
  const TF_Code code = TF_GetCode(status);
  TF_DeleteStatus(status);
  return code;
}

struct Plugin {
  TF_FilesystemPluginOps ops;
  const TF_FilesystemOps& on_paths = *ops.filesystem_ops;
  const TF_RandomAccessFileOps& on_reader = *ops.random_access_file_ops;
  const TF_WritableFileOps& on_writer = *ops.writable_file_ops;
  TF_Filesystem filesystem = {};
};

// Whether a child comes back, and finds what it should.
template <typename Find>
bool IsWellInChild(Find find) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    _exit(find() ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  return ended == 0;
}

void Say(bool is_well) {
  std::puts(is_well ? "well" : "not well");
  std::fflush(stdout);
}

// Those of the Internet.
int Sockets() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    sockaddr address = {};
    socklen_t size = sizeof(address);
    const int descriptor = std::stoi(entry.path().filename());
    count += getsockname(descriptor, &address, &size) == 0 && address.sa_family == AF_INET;
  }
  return count;
}

bool Locks(const Plugin& plugin) {
  constexpr char kPath[] = "/file";
  const TF_Filesystem* filesystem = &plugin.filesystem;
  TF_WritableFile file = {};
  Call(plugin.on_paths.new_writable_file, filesystem, kPath, &file);
  std::atomic<bool> done{false};
  // Nothing, so that the file does not grow.
  std::thread appends([&] {
    while (!done) Call(plugin.on_writer.append, &file, "", size_t{0});
  });
  std::thread asks([&] {
    while (!done) Call(plugin.on_paths.path_exists, filesystem, kPath);
  });
  bool is_well = true;
  for (int k = 0; k < kChildren && is_well; ++k) {
    is_well = IsWellInChild([&] {
      Call(plugin.on_writer.append, &file, "x", size_t{1});
      Call(plugin.on_paths.path_exists, filesystem, kPath);
      Call(plugin.on_paths.get_file_size, filesystem, kPath);
      return true;
    });
  }
  done = true;
  appends.join();
  asks.join();
  Say(is_well);
  return true;
}

bool Reads(const Plugin& plugin, const char* path, int sockets) {
  TF_RandomAccessFile file = {};
  Call(plugin.on_paths.new_random_access_file, &plugin.filesystem, path, &file);
  const auto is_read = [&] {
    char byte;
    return Call(plugin.on_reader.read, &file, uint64_t{0}, size_t{1}, &byte) == TF_OK;
  };
  bool is_read_here = false;
  std::thread reads([&] { is_read_here = is_read(); });
  std::getchar();
  Say(IsWellInChild([&] { return is_read() && Sockets() == sockets; }));
  reads.join();
  return is_read_here;
}

bool Writes(const Plugin& plugin, const char* path, size_t bytes) {
  const std::string content(bytes, 'w');
  TF_WritableFile file = {};
  Call(plugin.on_paths.new_writable_file, &plugin.filesystem, path, &file);
  const auto append = [&] {
    return Call(plugin.on_writer.append, &file, content.data(), content.size());
  };
  if (append() != TF_OK) return false;
  std::getchar();
  Say(IsWellInChild([&] {
    const bool is_refused = append() == TF_FAILED_PRECONDITION &&
                            Call(plugin.on_writer.sync, &file) == TF_FAILED_PRECONDITION &&
                            Call(plugin.on_writer.close, &file) == TF_FAILED_PRECONDITION;
    plugin.on_writer.cleanup(&file);
    return is_refused &&
           Call(plugin.on_paths.path_exists, &plugin.filesystem, path) == TF_NOT_FOUND;
  }));
  return append() == TF_OK && Call(plugin.on_writer.close, &file) == TF_OK;
}

}  // namespace

int main(int, char** arguments) {
  dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
  void* library = dlopen(arguments[3], RTLD_NOW);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  TF_FilesystemPluginInfo info = {};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  Plugin plugin{info.ops[0]};
  Call(plugin.on_paths.init, &plugin.filesystem);
  const std::string what = arguments[1];
  if (what == "locks") return Locks(plugin) ? 0 : 1;
  const int number = std::stoi(arguments[5]);
  if (what == "reads") return Reads(plugin, arguments[4], number) ? 0 : 1;
  return Writes(plugin, arguments[4], static_cast<size_t>(number)) ? 0 : 1;
}
