// What the plugin hdfs of tensorflow-io 0.37.1 does against the interface. plugin.h says how this
// is built and run; reproduce.md says what else it needs: Hadoop's client, libhdfs and an HDFS.

#include <exception>

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Read;
using reproduce::Status;
using reproduce::Write;

namespace {

using OnePath = void (*)(const TF_Filesystem*, const char*, TF_Status*);

void Ask(const Plugin& hdfs, const char* op, OnePath function, const std::string& name) {
  Status status;
  function(&hdfs.filesystem, (hdfs / name).c_str(), status);
  status.Print(std::string(op) + "(" + name + ")");
}

void Rename(const Plugin& hdfs, const std::string& source, const std::string& target) {
  Status status;
  hdfs.ops->rename_file(&hdfs.filesystem, (hdfs / source).c_str(), (hdfs / target).c_str(), status);
  status.Print("rename_file(" + source + ", " + target + ")");
}

void Children(const Plugin& hdfs, const std::string& name) {
  Status status;
  char** entries = nullptr;
  const int count =
      hdfs.ops->get_children(&hdfs.filesystem, (hdfs / name).c_str(), &entries, status);
  status.Print("get_children(" + name + ") gives " + std::to_string(count) +
               (count > 0 ? std::string(", the first is ") + entries[0] : ""));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Plugin hdfs = reproduce::Load(argc, argv, "hdfs");
  const TF_FilesystemOps& ops = *hdfs.ops;
  Ask(hdfs, "create_dir", ops.create_dir, "");

  std::puts("1 what is missing is renamed onto a file, which stays: 5 and 0 are expected");
  Write(hdfs, hdfs / "precious", "1");
  Rename(hdfs, "missing", "precious");
  Ask(hdfs, "path_exists", ops.path_exists, "precious");

  std::puts("2 a file is renamed to itself, and stays: 0 is expected twice");
  Write(hdfs, hdfs / "itself", "1");
  Rename(hdfs, "itself", "itself");
  Ask(hdfs, "path_exists", ops.path_exists, "itself");

  std::puts("3 a file is renamed onto an empty directory: 9 is expected, and 0 for the directory");
  Write(hdfs, hdfs / "file", "1");
  Ask(hdfs, "create_dir", ops.create_dir, "empty");
  Rename(hdfs, "file", "empty");

  std::puts("4 nothing is there: 5, NOT_FOUND, is expected");
  Ask(hdfs, "delete_file", ops.delete_file, "nothing");
  Ask(hdfs, "delete_dir", ops.delete_dir, "nothing");
  Rename(hdfs, "nothing", "target");

  std::puts("5 a directory is deleted as a file: 9, FAILED_PRECONDITION, is expected");
  Ask(hdfs, "create_dir", ops.create_dir, "directory");
  Ask(hdfs, "delete_file", ops.delete_file, "directory");

  std::puts("6 a file is listed as a directory: 9 and -1 are expected");
  Write(hdfs, hdfs / "listed", "1");
  Children(hdfs, "listed");

  std::puts("7 directories: 5, a parent is missing; 6, it is there already");
  Ask(hdfs, "create_dir", ops.create_dir, "parent/child");
  Ask(hdfs, "create_dir", ops.create_dir, "parent/child");

  std::puts("8 what is written to one file is in it, and not in the other: first 1, then 2");
  const std::string folder = "\xF0\x9F\x93\x81";  // U+1F4C1
  Ask(hdfs, "create_dir", ops.create_dir, folder);
  Write(hdfs, hdfs / (folder + "/file-1"), "1");
  Write(hdfs, hdfs / (folder + "/file-2"), "2");
  Read(hdfs, hdfs / (folder + "/file-1"), 0, 1);
  Read(hdfs, hdfs / (folder + "/file-2"), 0, 1);
  Children(hdfs, folder);

  std::puts("9 a status that says 3 is handed to a read of a file: 0 and 1 byte are expected");
  TF_RandomAccessFile file = {};
  Status opened, used;
  ops.new_random_access_file(&hdfs.filesystem, (hdfs / "listed").c_str(), &file, opened);
  TENSORFLOWS(TF_SetStatus)(used, TF_INVALID_ARGUMENT, "of an earlier call");
  char byte = 0;
  const int64_t got = hdfs.reader->read(&file, 0, 1, &byte, used);
  used.Print("read gives " + std::to_string(got));
  hdfs.reader->cleanup(&file);

  std::puts("10 nobody listens there: 14, UNAVAILABLE, is expected, or 2");
  Plugin nobody = hdfs;
  nobody.uri = "hdfs://127.0.0.1:1";
  Ask(nobody, "path_exists", ops.path_exists, "file");
  Ask(nobody, "delete_dir", ops.delete_dir, "file");

  std::puts("11 the empty path: 5 or 3 is expected");
  try {
    Status status;
    ops.path_exists(&hdfs.filesystem, "", status);
    status.Print("path_exists");
  } catch (const std::exception& error) {
    std::printf("  an exception: %s\n", error.what());
  }
  return 0;
}
