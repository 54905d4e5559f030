// What the plugin az of tensorflow-io 0.37.1 does against the interface. plugin.h says how this is
// built and run, with -pthread; TF_AZURE_STORAGE_BLOB_ENDPOINT and TF_AZURE_STORAGE_KEY say where
// the store is: third_party/az/compose.yaml has one. The URI is a folder in which is nothing yet.

#include <arpa/inet.h>
#include <dirent.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Read;
using reproduce::Status;
using reproduce::Write;

namespace {

using PathOp = void(const TF_Filesystem*, const char*, TF_Status*);

void Call(const Plugin& az, const char* name, PathOp* op, const std::string& uri) {
  Status status;
  op(&az.filesystem, uri.c_str(), status);
  status.Print(name);
}

// A process of its own, because some crash or never come back; those are ended after a minute.
void Alone(const char* what, void (*cause)(const Plugin&), const Plugin& az) {
  std::puts(what);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    cause(az);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("  ended by %s\n", strsignal(WTERMSIG(status)));
}

// A socket on a port of its own, which it names to the plugin as the store's.
int Listen() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  bind(listener, reinterpret_cast<sockaddr*>(&at), size);
  getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  const std::string endpoint =
      "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/account";
  setenv("TF_AZURE_STORAGE_BLOB_ENDPOINT", endpoint.c_str(), 1);
  return listener;
}

// A store that answers each request as Azurite does, and says "100 Continue" in the same breath.
void AtOnce(const Plugin& az) {
  const int listener = Listen();
  listen(listener, 8);
  std::thread([listener] {
    const char answer[] =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 409 The specified container already exists.\r\n"
        "x-ms-error-code: ContainerAlreadyExists\r\nContent-Type: application/xml\r\n"
        "Transfer-Encoding: chunked\r\n\r\n8\r\n<Error/>\r\n0\r\n\r\n";
    char request[4096];
    for (int peer; (peer = accept(listener, nullptr, nullptr)) >= 0;) {
      while (read(peer, request, sizeof request) > 0) {
        if (write(peer, answer, sizeof answer - 1) < 0) break;
      }
    }
  }).detach();
  Call(az, "create_dir", az.ops->create_dir, az / "directory");
}

void Nobody(const Plugin& az) {
  Listen();
  Call(az, "path_exists", az.ops->path_exists, az / "file");
}

void Copy(const Plugin& az) {
  Write(az, az / "source", "content");
  Status copied;
  az.ops->copy_file(&az.filesystem, (az / "source").c_str(), (az / "target").c_str(), copied);
  copied.Print("copy_file");
}

void CopyOfNothing(const Plugin& az) {
  Write(az, az / "kept", "content");
  Status copied;
  az.ops->copy_file(&az.filesystem, (az / "missing").c_str(), (az / "kept").c_str(), copied);
  copied.Print("copy_file");
  Read(az, az / "kept", 0, 7);
}

void DeleteDir(const Plugin& az) {
  Write(az, az / "dir/file", "x");
  Write(az, az / "dir-beside/file", "x");
  Call(az, "delete_dir of dir", az.ops->delete_dir, az / "dir");
  Call(az, "path_exists of dir/file", az.ops->path_exists, az / "dir/file");
  Call(az, "path_exists of dir-beside/file", az.ops->path_exists, az / "dir-beside/file");
}

void Append(const Plugin& az) {
  Write(az, az / "appended", "one");
  TF_WritableFile file = {};
  Status status;
  az.ops->new_appendable_file(&az.filesystem, (az / "appended").c_str(), &file, status);
  az.writer->append(&file, "two", 3, status);
  az.writer->close(&file, status);
  status.Print("new_appendable_file, append, close");
  az.writer->cleanup(&file);
  Status sized;
  const auto size = az.ops->get_file_size(&az.filesystem, (az / "appended").c_str(), sized);
  sized.Print("get_file_size returned " + std::to_string(size));
}

void Directories(const Plugin& az) {
  Write(az, az / "full/file", "x");
  Call(az, "path_exists", az.ops->path_exists, az / "full");
  Status asked;
  const bool is = az.ops->is_directory(&az.filesystem, (az / "missing").c_str(), asked);
  asked.Print(std::string("is_directory of what is missing: ") + (is ? "true" : "false"));
}

void Missing(const Plugin& az) {
  Read(az, az / "missing", 0, 4);
  Call(az, "delete_file", az.ops->delete_file, az / "missing");
}

// A blob that ends in a slash, as Azure's tools make for a directory.
void Marked(const Plugin& az) {
  Write(az, az / "marked/", "");
  Write(az, az / "marked/file", "x");
  char** entries = nullptr;
  Status listed;
  const int count = az.ops->get_children(&az.filesystem, (az / "marked").c_str(), &entries, listed);
  listed.Print("get_children returned " + std::to_string(count));
  for (int k = 0; k < count; ++k) std::printf("  entry '%s'\n", entries[k]);
}

void Descriptors(const Plugin& az) {
  for (int round = 0; round < 3; ++round) {
    Write(az, az / "written", "x");
    DIR* folder = opendir("/proc/self/fd");
    int count = -3;  // ".", ".." and this one
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    std::printf("  %d descriptors\n", count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Plugin az = reproduce::Load(argc, argv, "az");
  // It makes the container.
  Call(az, "create_dir", az.ops->create_dir, az.uri);

  Alone("1 the store says '100 Continue' and the answer in one piece: code 0 is expected", AtOnce,
        az);
  Alone("2 nobody listens: an error is expected, such as 14, UNAVAILABLE", Nobody, az);
  Alone("3 a file is copied: code 0 is expected", Copy, az);
  Alone("4 a full directory is deleted: 9, FAILED_PRECONDITION, and two files are expected",
        DeleteDir, az);
  Alone("5 'two' is appended to 'one': 6 bytes are expected", Append, az);
  Alone("6 a directory with a file in it exists: code 0; a missing one: 5, NOT_FOUND", Directories,
        az);
  Alone("7 what is missing is opened and deleted: 5, NOT_FOUND, is expected", Missing, az);
  Alone("8 files are written: as many descriptors are expected each time", Descriptors, az);
  Alone("9 nothing is copied onto a file: an error, and 7 bytes that begin with cont, are expected",
        CopyOfNothing, az);
  Alone("10 a directory with a marker and a file is listed: 1 entry is expected", Marked, az);
  return 0;
}
