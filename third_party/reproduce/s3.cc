// What the plugin s3 of tensorflow-io 0.37.1, and of earlier releases, does against the interface.
// plugin.h says how this is built and run; AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and
// S3_ENDPOINT say where the store is. The first step needs what an earlier run left there.

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Read;
using reproduce::Status;
using reproduce::Write;

namespace {

using OnePath = void (*)(const TF_Filesystem*, const char*, TF_Status*);

void Ask(const Plugin& s3, const char* op, OnePath function, const std::string& uri) {
  Status status;
  function(&s3.filesystem, uri.c_str(), status);
  status.Print(std::string(op) + "(" + uri + ")");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Plugin s3 = reproduce::Load(argc, argv, "s3");
  const TF_FilesystemOps& ops = *s3.ops;

  std::puts("0 a file is copied before this process wrote one: 0 is expected, 5 in a first run");
  Status copied;
  ops.copy_file(&s3.filesystem, (s3 / "file").c_str(), (s3 / "copy").c_str(), copied);
  copied.Print("copy_file");

  std::puts("1 a directory is created, and is not there: 0 is expected twice");
  Ask(s3, "create_dir", ops.create_dir, s3 / "directory");
  Ask(s3, "path_exists", ops.path_exists, s3 / "directory");

  std::puts("2 a file is created, nothing is appended, and it is not there: 0 is expected");
  Write(s3, s3 / "empty", "");
  Ask(s3, "path_exists", ops.path_exists, s3 / "empty");

  std::puts("3 nothing is there: 5, NOT_FOUND, is expected");
  Ask(s3, "delete_file", ops.delete_file, s3 / "missing");
  Ask(s3, "delete_dir", ops.delete_dir, s3 / "missing");
  Status renamed;
  ops.rename_file(&s3.filesystem, (s3 / "missing").c_str(), (s3 / "target").c_str(), renamed);
  renamed.Print("rename_file");
  Read(s3, s3 / "missing", 0, 10);

  std::puts("4 a directory is created where a file is: 6, ALREADY_EXISTS, is expected");
  Write(s3, s3 / "file", std::string(1024, 'x'));
  Ask(s3, "create_dir", ops.create_dir, s3 / "file");

  std::puts("5 `name` is renamed, and `names` beside it stays: 0 is expected twice");
  Write(s3, s3 / "name", "1");
  Write(s3, s3 / "names", "2");
  Status moved;
  ops.rename_file(&s3.filesystem, (s3 / "name").c_str(), (s3 / "moved").c_str(), moved);
  moved.Print("rename_file");
  Ask(s3, "path_exists", ops.path_exists, s3 / "names");

  std::puts("6 read gives more than was asked for: at most n is expected, and nothing behind");
  Read(s3, s3 / "file", 100, 0);
  Read(s3, s3 / "file", uint64_t{1} << 63, 10);

  std::puts("7 the process ends: exit status 0 is expected");
  return 0;
}
