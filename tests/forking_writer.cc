// `forking_writer RUNTIME PLUGIN URI BYTES`: appends so many bytes to a file. After a line on
// standard input a child of fork appends to the file, syncs, closes and drops it, and finds no
// object of that name; `refused` is printed where it could do nothing and came back. Then the
// parent appends as many bytes again, and closes it.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tf_filesystem_plugin.h"

namespace {

constexpr unsigned kSeconds = 60;  // after which a child does not come back

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
  TF_WritableFile file = {};
  const std::string content(std::stoul(arguments[4]), 'w');
  const auto code_of = [&](const auto& op) {
    op();
    return TF_GetCode(status);
  };
  const auto append = [&] {
    ops.writable_file_ops->append(&file, content.data(), content.size(), status);
  };
  const auto close = [&] { ops.writable_file_ops->close(&file, status); };
  ops.filesystem_ops->init(&filesystem, status);
  ops.filesystem_ops->new_writable_file(&filesystem, arguments[3], &file, status);
  if (TF_GetCode(status) != TF_OK || code_of(append) != TF_OK) {
    return fprintf(stderr, "%s\n", TF_Message(status)), 2;
  }
  std::getchar();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    const auto sync = [&] { ops.writable_file_ops->sync(&file, status); };
    const auto look = [&] { ops.filesystem_ops->path_exists(&filesystem, arguments[3], status); };
    const bool is_refused = code_of(append) == TF_FAILED_PRECONDITION &&
                            code_of(sync) == TF_FAILED_PRECONDITION &&
                            code_of(close) == TF_FAILED_PRECONDITION;
    ops.writable_file_ops->cleanup(&file);
    _exit(is_refused && code_of(look) == TF_NOT_FOUND ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  std::puts(ended == 0 ? "refused" : "not refused");
  std::fflush(stdout);
  return code_of(append) == TF_OK && code_of(close) == TF_OK ? 0 : 1;
}
