// Calls of the plugin's functions: what they throw does not pass through the host.
#ifndef TFFS_HOST_CALL_H_
#define TFFS_HOST_CALL_H_

#include <cstdint>
#include <string>
#include <type_traits>

namespace tffs {

// Thrown by the host in the place of an exception that came out of the plugin.
struct Thrown {
  std::string type;  // demangled, "?" where it is not known
  std::string what;  // empty where it is no std::exception
};

// How long the plugin itself takes for an op: armed before the op, and stopped when the first
// function of the plugin comes back, so that nothing counts that the host does around it.
struct Stopwatch {
  bool armed = false;
  int64_t start = 0;  // nanoseconds of the monotonic clock
  int64_t end = 0;
};
inline thread_local Stopwatch stopwatch;

// Nanoseconds of the monotonic clock.
int64_t Now();

// Runs `body`. The plugin may have brought another C++ library and another unwinder than the
// host's, which must not meet a frame of the host: its exceptions are stopped here, by a
// personality routine that asks neither for anything. Throws Thrown.
void RunGuarded(void (*body)(void*), void* context);

// A function of the plugin, called as itself. Throws Thrown.
template <typename Result, typename... Parameters>
class Guarded {
 public:
  explicit Guarded(Result (*function)(Parameters...)) : function_(function) {}

  Result operator()(Parameters... arguments) const {
    if constexpr (std::is_void_v<Result>) {
      auto body = [&] { function_(arguments...); };
      Run(body);
    } else {
      Result result{};
      auto body = [&] { result = function_(arguments...); };
      Run(body);
      return result;
    }
  }

 private:
  template <typename Body>
  static void Run(Body& body) {
    RunGuarded([](void* context) { (*static_cast<Body*>(context))(); }, &body);
  }

  Result (*function_)(Parameters...);
};

}  // namespace tffs

#endif  // TFFS_HOST_CALL_H_
