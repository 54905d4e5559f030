#include "plugins.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tf_filesystem_plugin.h"

namespace loader {
namespace {

constexpr const char* kPlugins = "DRAGONFLY_PLUGIN_PATH";
constexpr const char* kLog = "DRAGONFLY_LOADER_LOG";
constexpr const char* kRegister = "TF_RegisterFilesystemPlugin";

// One line, whatever is in `text`, and in one piece: other threads write there, too.
void Say(const char* plugin, const char* text) {
  char line[4096];
  std::snprintf(line, sizeof line - 1, "tffs_loader: %s: %s", plugin, text);
  for (char* at = line; *at != '\0'; ++at) {
    if (static_cast<unsigned char>(*at) < ' ') *at = ' ';
  }
  std::strcat(line, "\n");
  std::fputs(line, stderr);
}

bool Wordy() {
  const char* log = std::getenv(kLog);
  return log != nullptr && *log != '\0' && std::strcmp(log, "0") != 0;
}

// The part of TensorFlow's C interface that it takes.
struct TensorFlow {
  void (*register_plugin)(const char* path, TF_Status* status);
  decltype(&TF_NewStatus) new_status;
  decltype(&TF_DeleteStatus) delete_status;
  decltype(&TF_GetCode) code;
  decltype(&TF_Message) message;

  explicit TensorFlow(void* library) {
    const bool found = Find(library, kRegister, &register_plugin) &&
                       Find(library, "TF_NewStatus", &new_status) &&
                       Find(library, "TF_DeleteStatus", &delete_status) &&
                       Find(library, "TF_GetCode", &code) && Find(library, "TF_Message", &message);
    if (!found) register_plugin = nullptr;
  }

  template <typename Function>
  static bool Find(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

// Makes the library that has the TF_* functions visible to all. Python's TensorFlow does that, too,
// but only later in `import tensorflow` than it is first opened.
bool Promote(const TensorFlow& tensorflow) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(tensorflow.new_status), &info) == 0) return false;
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
}

bool Register(const TensorFlow& tensorflow, const char* plugin) {
  TF_Status* status = tensorflow.new_status();
  tensorflow.register_plugin(plugin, status);
  // Not loaded: it may be one that names no library and expects the TF_* functions in the process.
  if (tensorflow.code(status) == TF_NOT_FOUND &&
      std::strstr(tensorflow.message(status), "undefined symbol: TF_") != nullptr &&
      dlsym(RTLD_DEFAULT, "TF_NewStatus") == nullptr && Promote(tensorflow)) {
    tensorflow.delete_status(status);
    status = tensorflow.new_status();
    tensorflow.register_plugin(plugin, status);
  }
  const bool registered = tensorflow.code(status) == TF_OK;
  if (!registered) {
    char text[3072];
    std::snprintf(text, sizeof text, "not registered: %s (code %d)", tensorflow.message(status),
                  static_cast<int>(tensorflow.code(status)));
    Say(plugin, text);
  } else if (Wordy()) {
    Say(plugin, "registered");
  }
  tensorflow.delete_status(status);
  return registered;
}

std::atomic<int> registered{-1};
std::atomic<void*> tensorflow_library{nullptr};
pthread_once_t once = PTHREAD_ONCE_INIT;

void RegisterAll() {
  int count = 0;
  const char* value = std::getenv(kPlugins);
  char* paths = strdup(value != nullptr ? value : "");
  const TensorFlow tensorflow(tensorflow_library);
  if (tensorflow.register_plugin == nullptr) {
    Say(value != nullptr ? value : "", "not registered: TensorFlow has no TF_NewStatus");
  } else if (paths != nullptr) {
    char* rest = paths;
    while (const char* path = strsep(&rest, ":")) {
      if (*path != '\0') count += Register(tensorflow, path);
    }
  }
  std::free(paths);
  dlerror();  // what this file asked for is nobody else's error
  registered = count;
}

// For who wonders why nothing happened.
__attribute__((destructor)) void SayWhatNeverCame() {
  const char* plugins = std::getenv(kPlugins);
  if (registered < 0 && plugins != nullptr && Wordy()) {
    Say(plugins, "not registered: nothing in this process has TF_RegisterFilesystemPlugin");
  }
}

}  // namespace

bool IsTensorFlow(void* library) {
  const bool is = dlsym(library, kRegister) != nullptr;
  if (!is) dlerror();
  return is;
}

void RegisterOnce(void* library) {
  if (registered >= 0) return;
  void* none = nullptr;
  tensorflow_library.compare_exchange_strong(none, library);
  pthread_once(&once, RegisterAll);
}

int Registered() { return registered; }

}  // namespace loader
