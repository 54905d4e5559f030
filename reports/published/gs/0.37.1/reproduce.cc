// What the plugin gs does wrong, op by op, without the suite and without Python.
//
//   c++ -std=c++17 -I harness/include reports/published/gs/0.37.1/reproduce.cc -o reproduce -ldl
//   ./reproduce RUNTIME PLUGIN gs://BUCKET/FOLDER CAUSE
//
// RUNTIME is a libtensorflow_framework.so.2, PLUGIN the library of the wheel, CAUSE one of the names below. A fresh
// folder for each run keeps what an earlier one left out of the way.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "tf_filesystem_plugin.h"

namespace {

void* Symbol(void* library, const char* name) {
  void* found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    std::printf("%s\n", dlerror());
    std::exit(2);
  }
  return found;
}

void* g_runtime;

template <typename Function>
Function* Of(const char* name) {
  return reinterpret_cast<Function*>(Symbol(g_runtime, name));
}

// The plugin as core has it: registered, initialised, and called through its tables.
class Plugin {
 public:
  Plugin(const char* path, std::string folder) : folder_(std::move(folder)) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto init = reinterpret_cast<decltype(&TF_InitPlugin)>(Symbol(library, "TF_InitPlugin"));
    TF_FilesystemPluginInfo info{};
    init(&info);
    ops_ = info.ops[0];
    status_ = Of<decltype(TF_NewStatus)>("TF_NewStatus")();
    ops_.filesystem_ops->init(&filesystem_, status_);
  }

  std::string At(const char* name) const { return folder_ + "/" + name; }

  void Write(const char* name, const std::string& content) {
    TF_WritableFile file{};
    Reset();
    ops_.filesystem_ops->new_writable_file(&filesystem_, At(name).c_str(), &file, status_);
    ops_.writable_file_ops->append(&file, content.data(), content.size(), status_);
    ops_.writable_file_ops->close(&file, status_);
    Say("written", name);
    ops_.writable_file_ops->cleanup(&file);
  }

  bool Open(const char* name) {
    Reset();
    ops_.filesystem_ops->new_random_access_file(&filesystem_, At(name).c_str(), &reader_, status_);
    return Say("new_random_access_file", name);
  }

  void Read(uint64_t offset, size_t n) {
    std::string buffer(n, '?');
    Reset();
    int64_t got = ops_.random_access_file_ops->read(&reader_, offset, n, buffer.data(), status_);
    std::printf("read(%llu, %zu) -> %lld ", static_cast<unsigned long long>(offset), n,
                static_cast<long long>(got));
    Say("", got > 0 && got < 40 ? buffer.substr(0, got).c_str() : "");
  }

  void Call(const char* op, const char* name,
            void (*TF_FilesystemOps::*entry)(const TF_Filesystem*, const char*, TF_Status*)) {
    Reset();
    (ops_.filesystem_ops->*entry)(&filesystem_, At(name).c_str(), status_);
    Say(op, name);
  }

  void CreateDir(const char* name) { Call("create_dir", name, &TF_FilesystemOps::create_dir); }
  void DeleteDir(const char* name) { Call("delete_dir", name, &TF_FilesystemOps::delete_dir); }
  void PathExists(const char* name) { Call("path_exists", name, &TF_FilesystemOps::path_exists); }

  void Copy(const char* source, const char* target) {
    Reset();
    ops_.filesystem_ops->copy_file(&filesystem_, At(source).c_str(), At(target).c_str(), status_);
    Say("copy_file", target);
  }

  void IsDirectory(const char* name) {
    Reset();
    bool is = ops_.filesystem_ops->is_directory(&filesystem_, At(name).c_str(), status_);
    std::printf("%s: ", is ? "true" : "false");
    Say("is_directory", name);
  }

  void List(const char* name) {
    char** entries = nullptr;
    Reset();
    int count = ops_.filesystem_ops->get_children(&filesystem_, At(name).c_str(), &entries, status_);
    for (int k = 0; k < count; ++k) std::printf("'%s' ", entries[k]);
    Say("get_children", name);
  }

 private:
  void Reset() { Of<decltype(TF_SetStatus)>("TF_SetStatus")(status_, TF_OK, ""); }

  bool Say(const char* op, const char* name) {
    int code = Of<decltype(TF_GetCode)>("TF_GetCode")(status_);
    std::string message = Of<decltype(TF_Message)>("TF_Message")(status_);
    std::printf("%s %s -> %d %s\n", op, name, code, message.substr(0, message.find('\n')).c_str());
    std::fflush(stdout);
    return code == TF_OK;
  }

  std::string folder_;
  TF_FilesystemPluginOps ops_{};
  TF_Filesystem filesystem_{};
  TF_RandomAccessFile reader_{};
  TF_Status* status_ = nullptr;
};

const std::map<std::string, std::function<void(Plugin&)>> kCauses = {
    // The first op that needs the store, where a variable such as GCS_STAT_CACHE_MAX_AGE is not set: it crashes.
    {"first-op", [](Plugin& plugin) { plugin.PathExists("missing"); }},
    // A block behind the start is read, and then one before it. The bytes are not those of the file, or it crashes.
    {"read-back",
     [](Plugin& plugin) {
       plugin.Write("file", "0123456789abcdef");
       plugin.Open("file");
       plugin.Read(8, 4);
       plugin.Read(0, 4);
     }},
    // A file that is larger than what the client buffers.
    {"large",
     [](Plugin& plugin) {
       plugin.Write("file", std::string(1048577, 'x'));
       plugin.Open("file");
       plugin.Read(0, 1048577);
     }},
    // A directory in which is exactly one object, here its own marker.
    {"one-object",
     [](Plugin& plugin) {
       plugin.CreateDir("directory");
       plugin.PathExists("directory");
       plugin.Write("directory/file", "x");
       plugin.PathExists("directory");
     }},
    // The names of directories end in a slash, which core's glob does not match.
    {"slash",
     [](Plugin& plugin) {
       plugin.CreateDir("directory");
       plugin.CreateDir("directory/inside");
       plugin.List("directory");
     }},
    // Nothing is there, and opening, listing and deleting it answers OK.
    {"missing",
     [](Plugin& plugin) {
       plugin.Open("missing");
       plugin.List("missing");
       plugin.DeleteDir("missing");
     }},
    // For some seconds after a question, a file that became shorter cannot be read.
    {"stale",
     [](Plugin& plugin) {
       plugin.Write("long", "a longer file");
       plugin.Write("short", "short");
       plugin.PathExists("long");
       plugin.Copy("short", "long");
       plugin.Open("long");
       plugin.Read(0, 5);
     }},
};

}  // namespace

int main(int count, char** given) {
  if (count != 5 || !kCauses.count(given[4])) {
    std::printf("reproduce RUNTIME PLUGIN gs://BUCKET/FOLDER CAUSE, which is one of");
    for (const auto& cause : kCauses) std::printf(" %s", cause.first.c_str());
    std::printf("\n");
    return 2;
  }
  g_runtime = dlopen(given[1], RTLD_NOW | RTLD_GLOBAL);
  Plugin plugin(given[2], given[3]);
  kCauses.at(given[4])(plugin);
}
