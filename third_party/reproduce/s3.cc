// What the plugin s3 of tensorflow-io 0.37.1 does against the interface. plugin.h says how this is
// built and run; AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and S3_ENDPOINT say where the
// store is.

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Read;
using reproduce::Status;
using reproduce::Write;

namespace {

void CreateDir(const Plugin& s3, const std::string& uri) {
  Status created;
  s3.ops->create_dir(&s3.filesystem, uri.c_str(), created);
  created.Print("create_dir");
}

void PathExists(const Plugin& s3, const std::string& uri) {
  Status found;
  s3.ops->path_exists(&s3.filesystem, uri.c_str(), found);
  found.Print("path_exists");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Plugin s3 = reproduce::Load(argc, argv, "s3");

  std::puts("1 a directory is created, and is not there (5 is NOT_FOUND)");
  CreateDir(s3, s3 / "directory");
  PathExists(s3, s3 / "directory");

  std::puts("2 a directory is created where a file is: 6, ALREADY_EXISTS, is expected");
  Write(s3, s3 / "file", std::string(1024, 'x'));
  CreateDir(s3, s3 / "file");

  std::puts("3 read gives more than was asked for: n is expected");
  Read(s3, s3 / "file", 100, 0);
  Read(s3, s3 / "file", uint64_t{1} << 63, 10);

  std::puts("4 the process ends: 'exit status 0' is expected (echo $?)");
  return 0;
}
