// One scheme of a released plugin in a process of its own, for reproducers: no Python, nothing to
// link.
//
//   g++ -std=c++17 -I harness/include third_party/reproduce/s3.cc -ldl -o reproduce
//   ./reproduce FOLDER_OF_TENSORFLOWS_LIBRARIES PLUGIN URI

#ifndef TFFS_THIRD_PARTY_REPRODUCE_PLUGIN_H_
#define TFFS_THIRD_PARTY_REPRODUCE_PLUGIN_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tf_filesystem_plugin.h"

namespace reproduce {

// Ends the program where there is no such library or symbol.
inline void* Found(void* what) {
  if (what == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return what;
}

template <typename Function>
Function* Tensorflows(Function*, const char* name) {
  return reinterpret_cast<Function*>(Found(dlsym(RTLD_DEFAULT, name)));
}
#define TENSORFLOWS(name) reproduce::Tensorflows(static_cast<decltype(name)*>(nullptr), #name)

// A fresh status for each op.
class Status {
 public:
  Status() : status_(TENSORFLOWS(TF_NewStatus)()) {}
  ~Status() { TENSORFLOWS(TF_DeleteStatus)(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  operator TF_Status*() { return status_; }

  // Such as `create_dir: code 0`, and the beginning of the message.
  void Print(const std::string& op) {
    const std::string message = TENSORFLOWS(TF_Message)(status_);
    std::printf("  %s: code %d%s%.90s\n", op.c_str(), TENSORFLOWS(TF_GetCode)(status_),
                message.empty() ? "" : ", ", message.substr(0, message.find('\n')).c_str());
  }

 private:
  TF_Status* status_;
};

// What the plugin registered for a scheme, and its filesystem.
struct Plugin {
  const TF_FilesystemOps* ops;
  const TF_RandomAccessFileOps* reader;
  const TF_WritableFileOps* writer;
  TF_Filesystem filesystem;
  std::string uri;

  std::string operator/(const std::string& name) const { return uri + "/" + name; }
};

inline Plugin Load(int argc, char** argv, const std::string& scheme) {
  if (argc != 4) {
    std::fprintf(stderr, "%s FOLDER_OF_TENSORFLOWS_LIBRARIES PLUGIN URI\n", argv[0]);
    std::exit(2);
  }
  const std::string framework = std::string(argv[1]) + "/libtensorflow_framework.so.2";
  Found(dlopen(framework.c_str(), RTLD_NOW | RTLD_GLOBAL));
  void* library = Found(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL));
  auto* init = reinterpret_cast<decltype(TF_InitPlugin)*>(Found(dlsym(library, "TF_InitPlugin")));
  TF_FilesystemPluginInfo info = {};
  init(&info);
  for (size_t k = 0; k < info.num_schemes; ++k) {
    const TF_FilesystemPluginOps& one = info.ops[k];
    if (one.scheme != scheme) continue;
    Plugin plugin = {
        one.filesystem_ops, one.random_access_file_ops, one.writable_file_ops, {}, argv[3]};
    Status status;
    plugin.ops->init(&plugin.filesystem, status);
    status.Print("init");
    return plugin;
  }
  std::fprintf(stderr, "%s does not have the scheme %s\n", argv[2], scheme.c_str());
  std::exit(2);
}

// Writes a file. Where nothing is to be in it, nothing is appended.
inline void Write(const Plugin& plugin, const std::string& uri, const std::string& content) {
  TF_WritableFile file = {};
  Status opened, appended, closed;
  plugin.ops->new_writable_file(&plugin.filesystem, uri.c_str(), &file, opened);
  opened.Print("new_writable_file");
  if (file.plugin_file == nullptr) return;
  if (!content.empty()) plugin.writer->append(&file, content.data(), content.size(), appended);
  plugin.writer->close(&file, closed);
  closed.Print("close");
  plugin.writer->cleanup(&file);
}

// Reads `n` bytes at `offset` into a buffer with room for more, and prints what came of it.
inline void Read(const Plugin& plugin, const std::string& uri, uint64_t offset, size_t n) {
  TF_RandomAccessFile file = {};
  Status opened, status;
  plugin.ops->new_random_access_file(&plugin.filesystem, uri.c_str(), &file, opened);
  opened.Print("new_random_access_file");
  if (file.plugin_file == nullptr) return;
  std::string buffer(n + 4096, '\0');
  const int64_t got = plugin.reader->read(&file, offset, n, &buffer[0], status);
  const size_t last = buffer.find_last_not_of('\0');
  const size_t behind = last == std::string::npos || last < n ? 0 : last + 1 - n;
  const std::string start = std::string(buffer.c_str()).substr(0, 4);
  const std::string begins = start.empty() ? "" : ", that begin with " + start;
  status.Print("read(offset " + std::to_string(offset) + ", n " + std::to_string(n) + ") gives " +
               std::to_string(got) + begins + ", writes " + std::to_string(behind) +
               " behind the buffer");
  plugin.reader->cleanup(&file);
}

}  // namespace reproduce

#endif  // TFFS_THIRD_PARTY_REPRODUCE_PLUGIN_H_
