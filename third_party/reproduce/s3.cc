// What the plugin s3 of tensorflow-io 0.37.1, and of earlier releases, does against the interface.
// plugin.h says how this is built and run; AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and
// S3_ENDPOINT say where the store is. The first step needs what an earlier run left there; the last
// one has a store of its own. It is built with -pthread.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

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

// A store with one object, `again`, that refuses so many GETs as busy, and then answers.
int Serve(int refused) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  bind(listener, reinterpret_cast<sockaddr*>(&at), size);
  getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  listen(listener, 8);
  std::thread([listener, refused]() mutable {
    const std::string page = "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code></Error>";
    const std::string facts =
        "Content-Range: bytes 0-4/5\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\n";
    for (int peer; (peer = accept(listener, nullptr, nullptr)) >= 0;) {
      char request[8192];
      while (read(peer, request, sizeof request) > 0) {
        std::string answer = "HTTP/1.1 206 Partial Content\r\n" + facts;
        if (request[0] == 'G' && refused-- > 0) {
          answer = "HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: " +
                   std::to_string(page.size()) + "\r\n\r\n" + page;
        } else if (request[0] == 'G') {
          answer += "again";
        }
        if (write(peer, answer.data(), answer.size()) < 0) break;
      }
      close(peer);
    }
  }).detach();
  return ntohs(at.sin_port);
}

// A process of its own, whose store is busy at first.
void Busy(int argc, char** argv, int refused) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    setenv("S3_ENDPOINT", ("http://127.0.0.1:" + std::to_string(Serve(refused))).c_str(), 1);
    const Plugin s3 = reproduce::Load(argc, argv, "s3");
    Read(s3, s3 / "busy", 0, 5);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::puts("8 a store that is busy refuses no GET, then one: 5, that begin with agai, twice");
  Busy(argc, argv, 0);
  Busy(argc, argv, 1);
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
