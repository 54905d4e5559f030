// `forking_reader RUNTIME PLUGIN URI SOCKETS`: one thread reads a file, and is in the midst of that
// when a line comes on standard input. Then a child of fork reads the same file. `came back` is
// printed where it got it before the thread has to come back, and has so many sockets, all of its
// own.

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "tf_filesystem_plugin.h"

namespace {

constexpr unsigned kSeconds = 60;  // after which a child does not come back

bool Read(const TF_FilesystemPluginOps& ops, const TF_RandomAccessFile& file) {
  TF_Status* status = TF_NewStatus();
  char byte;
  ops.random_access_file_ops->read(&file, 0, 1, &byte, status);
  const bool is_read = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return is_read;
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

}  // namespace

int main(int, char** arguments) {
  dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  void* library = dlopen(arguments[2], RTLD_NOW);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  TF_FilesystemPluginInfo info = {};
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  const TF_FilesystemPluginOps& ops = info.ops[0];
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem = {};
  TF_RandomAccessFile file = {};
  ops.filesystem_ops->init(&filesystem, status);
  ops.filesystem_ops->new_random_access_file(&filesystem, arguments[3], &file, status);
  if (TF_GetCode(status) != TF_OK) return fprintf(stderr, "%s\n", TF_Message(status)), 2;
  bool is_read = false;
  std::thread reads([&] { is_read = Read(ops, file); });
  std::getchar();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    _exit(Read(ops, file) && Sockets() == std::stoi(arguments[4]) ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  std::puts(ended == 0 ? "came back" : "did not");
  std::fflush(stdout);
  reads.join();
  return is_read ? 0 : 1;
}
