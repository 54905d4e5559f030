// Loading: dlopen as core does it, and the names of all symbols that nobody provides.
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "host.h"

namespace tffs {
namespace {

constexpr uint64_t kLargestPiece = uint64_t{64} << 20;

// Where a program that is only listed finds a plugin whose name the loader cannot read.
constexpr int kPluginDescriptor = 199;

// Whether the path may stand in LD_PRELOAD, which blanks and colons divide.
bool CanBeListed(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

// The environment of this process with the dynamic loader told to list, and not to run, what it was
// given.
std::vector<std::string> TracingEnvironment(const std::string& plugin) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (text.substr(0, 11) != "LD_PRELOAD=") environment.emplace_back(text);
  }
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(kPluginDescriptor);
  environment.push_back("LD_PRELOAD=" + (CanBeListed(plugin) ? plugin : by_descriptor));
  environment.push_back("LD_TRACE_LOADED_OBJECTS=1");
  environment.push_back("LD_BIND_NOW=1");
  environment.push_back("LD_WARN=1");
  return environment;
}

// What this program's dynamic loader says of `plugin`, the way ldd -r asks it. It does not know of
// the runtime.
std::string TraceOfLoader(const std::string& plugin) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  const int file = open(plugin.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) posix_spawn_file_actions_adddup2(&actions, file, kPluginDescriptor);
  std::vector<std::string> environment = TracingEnvironment(plugin);
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  char name[] = "/proc/self/exe";
  char* arguments[] = {name, nullptr};
  pid_t child;
  const int error = posix_spawn(&child, name, &actions, nullptr, arguments, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (file >= 0) close(file);
  std::string output;
  if (error == 0) {
    char chunk[4096];
    ssize_t got;
    while ((got = read(ends[0], chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)) {
      if (got > 0) output.append(chunk, static_cast<size_t>(got));
    }
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return output;
}

// The symbols that neither the libraries which the plugin names have, nor the runtime.
std::set<std::string> MissingSymbols(const std::string& plugin) {
  static constexpr std::string_view kMark = "undefined symbol: ";
  const std::string output = TraceOfLoader(plugin);
  std::set<std::string> symbols;
  size_t at = 0;
  while ((at = output.find(kMark, at)) != std::string::npos) {
    at += kMark.size();
    const size_t end = output.find_first_of(" \t\n,", at);
    const std::string symbol = output.substr(at, end - at);
    if (dlsym(RTLD_DEFAULT, symbol.c_str()) == nullptr) symbols.insert(symbol);
  }
  return symbols;
}

Reply NotLoaded(const std::string& error, const std::set<std::string>& missing) {
  Reply reply("done");
  reply.Integer(kWireVersion).Integer(0).Bytes(error).Unsigned(missing.size());
  for (const std::string& symbol : missing) {
    int status;
    char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    reply.Bytes(symbol).Bytes(demangled != nullptr ? demangled : symbol);
    std::free(demangled);
  }
  return reply;
}

}  // namespace

Reply Host::Load(Request& request) {
  const std::string path(request.TakeBytes());
  before_load_ = StateNow();
  void* library = Guarded(dlopen)(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    // What is asked of the dynamic loader next overwrites it.
    const std::string error = said != nullptr ? said : "dlopen failed";
    return NotLoaded(error, MissingSymbols(path));
  }
  void* symbol = dlsym(library, "TF_InitPlugin");
  if (symbol == nullptr) return NotLoaded(path + " does not export TF_InitPlugin", {});
  init_plugin_ = reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(symbol);
  return Reply("done").Integer(kWireVersion).Integer(1).Bytes("").Integer(0);
}

Reply Host::File(Request& request) {
  const std::string path(request.TakeBytes());
  const auto offset = static_cast<off_t>(request.TakeInteger());
  const uint64_t length = request.TakeUnsigned();
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string content(std::min(length, kLargestPiece), '\0');
  size_t filled = 0;
  ssize_t got = file < 0 ? -1 : 1;
  while (got > 0 && filled < content.size()) {
    got = pread(file, content.data() + filled, content.size() - filled,
                offset + static_cast<off_t>(filled));
    if (got > 0) filled += static_cast<size_t>(got);
  }
  if (file >= 0) close(file);
  content.resize(filled);
  return std::move(Reply("done").Integer(got >= 0).Bytes(content));
}

}  // namespace tffs
