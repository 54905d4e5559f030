// What the plugin gs of tensorflow-io-gcs-filesystem 0.37.1 does against the interface. plugin.h
// says how this is built and run; CLOUD_STORAGE_EMULATOR_ENDPOINT says where the store is, and
// GOOGLE_CLOUD_CPP_STORAGE_REST_CONFIG=disable-xml suits emulators. The URI is a folder in which is
// nothing yet.

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "plugin.h"

using reproduce::Plugin;
using reproduce::Status;
using reproduce::Write;

namespace {

using PathOp = void(const TF_Filesystem*, const char*, TF_Status*);

void Call(const Plugin& gs, const char* name, PathOp* op, const std::string& uri) {
  Status status;
  op(&gs.filesystem, uri.c_str(), status);
  status.Print(name);
}

TF_RandomAccessFile Open(const Plugin& gs, const std::string& uri) {
  TF_RandomAccessFile file = {};
  Status status;
  gs.ops->new_random_access_file(&gs.filesystem, uri.c_str(), &file, status);
  status.Print("new_random_access_file");
  return file;
}

void Read(const Plugin& gs, TF_RandomAccessFile* file, uint64_t offset, size_t n) {
  std::string buffer(n, '?');
  Status status;
  const int64_t got = gs.reader->read(file, offset, n, &buffer[0], status);
  std::string bytes = "bytes";
  for (int64_t k = 0; k < got && k < 4; ++k) {
    char hex[8];
    std::snprintf(hex, sizeof hex, " %02x", static_cast<unsigned char>(buffer[k]));
    bytes += hex;
  }
  status.Print("read(offset " + std::to_string(offset) + ", n " + std::to_string(n) +
               ") returned " + std::to_string(got) + ", " + bytes);
}

void List(const Plugin& gs, const std::string& uri) {
  char** entries = nullptr;
  Status status;
  const int count = gs.ops->get_children(&gs.filesystem, uri.c_str(), &entries, status);
  std::string names = "get_children returned " + std::to_string(count);
  for (int k = 0; k < count; ++k) names += std::string(" '") + entries[k] + "'";
  status.Print(names);
}

// A process of its own, because some of them crash.
void Alone(const char* what, void (*cause)(const Plugin&), const Plugin& gs) {
  std::puts(what);
  const pid_t child = fork();
  if (child == 0) {
    cause(gs);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("  ended by %s\n", strsignal(WTERMSIG(status)));
}

void FirstOp(const Plugin& gs) { Call(gs, "path_exists", gs.ops->path_exists, gs / "missing"); }

void Back(const Plugin& gs) {
  Write(gs, gs / "back", "0123456789abcdef");
  TF_RandomAccessFile file = Open(gs, gs / "back");
  Read(gs, &file, 8, 4);
  Read(gs, &file, 0, 4);
}

void Large(const Plugin& gs) {
  Write(gs, gs / "large", std::string(1048577, 'x'));
  TF_RandomAccessFile file = Open(gs, gs / "large");
  Read(gs, &file, 0, 1048577);
}

void OneObject(const Plugin& gs) {
  Call(gs, "create_dir", gs.ops->create_dir, gs / "one");
  Call(gs, "path_exists", gs.ops->path_exists, gs / "one");
  Write(gs, gs / "one/file", "x");
  Call(gs, "path_exists", gs.ops->path_exists, gs / "one");
}

void Slash(const Plugin& gs) {
  Call(gs, "create_dir", gs.ops->create_dir, gs / "slash");
  Call(gs, "create_dir", gs.ops->create_dir, gs / "slash/inside");
  List(gs, gs / "slash");
}

void Missing(const Plugin& gs) {
  Open(gs, gs / "missing");
  List(gs, gs / "missing");
  Call(gs, "delete_dir", gs.ops->delete_dir, gs / "missing");
}

void Stale(const Plugin& gs) {
  Write(gs, gs / "long", "a longer file");
  Write(gs, gs / "short", "short");
  Call(gs, "path_exists", gs.ops->path_exists, gs / "long");
  Status copied;
  gs.ops->copy_file(&gs.filesystem, (gs / "short").c_str(), (gs / "long").c_str(), copied);
  copied.Print("copy_file");
  TF_RandomAccessFile file = Open(gs, gs / "long");
  Read(gs, &file, 0, 5);
}

void Rewritten(const Plugin& gs) {
  Write(gs, gs / "rewritten", "a longer file");
  Call(gs, "path_exists", gs.ops->path_exists, gs / "rewritten");
  Write(gs, gs / "rewritten", "short");
  TF_RandomAccessFile file = Open(gs, gs / "rewritten");
  Read(gs, &file, 0, 5);
  sleep(6);
  std::puts("  six seconds later");
  TF_RandomAccessFile again = Open(gs, gs / "rewritten");
  Read(gs, &again, 0, 5);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const char* settings[][2] = {{"GCS_READ_CACHE_BLOCK_SIZE_MB", "64"},
                               {"GCS_READ_CACHE_MAX_SIZE_MB", "0"},
                               {"GCS_READ_CACHE_MAX_STALENESS", "0"},
                               {"GCS_STAT_CACHE_MAX_AGE", "5"},
                               {"GCS_STAT_CACHE_MAX_ENTRIES", "1024"}};
  for (const auto& one : settings) unsetenv(one[0]);
  const Plugin gs = reproduce::Load(argc, argv, "gs");

  Alone("1 the first op, and no GCS_... is set: 5, NOT_FOUND, is expected", FirstOp, gs);
  for (const auto& one : settings) setenv(one[0], one[1], 1);
  Alone("2 a file of 1,048,577 bytes is read: code 0 and as many are expected", Large, gs);
  Alone("3 after a read at 8, one at 0: bytes 30 31 32 33 are expected", Back, gs);
  Alone("4 a directory in which is one object, its own: code 0 is expected", OneObject, gs);
  Alone("5 a directory is listed as a name and a slash, which core's glob does not match", Slash,
        gs);
  Alone("6 what is missing is opened, listed and deleted: 5, NOT_FOUND, is expected", Missing, gs);
  Alone("7 a file is copied over one that was longer, and read: code 0 is expected", Stale, gs);
  Alone("8 a file is written anew, shorter, and read: code 0 is expected", Rewritten, gs);
  return 0;
}
