// The guard of what may find no memory.

#ifndef TFFS_REFERENCE_PLUGINS_CHOICES_GUARD_H_
#define TFFS_REFERENCE_PLUGINS_CHOICES_GUARD_H_

#include <tuple>
#include <type_traits>

#include "support/status.h"

namespace choices {

// `op`, which answers RESOURCE_EXHAUSTED where it throws std::bad_alloc. Its last argument is the
// status.
template <auto op, typename Type = std::decay_t<decltype(op)>>
struct Guard;
template <auto op, typename Result, typename... Args>
struct Guard<op, Result (*)(Args...)> {
  static Result Call(Args... args) noexcept {
    TF_Status* status = std::get<sizeof...(Args) - 1>(std::tuple(args...));
    if constexpr (std::is_void_v<Result>) {
      support::Guarded(status, "", [&] { op(args...); });
    } else {
      constexpr Result kFailed = std::is_same_v<Result, bool> ? 0 : -1;
      return support::Guarded(status, "", kFailed, [&] { return op(args...); });
    }
  }
};

}  // namespace choices

#endif  // TFFS_REFERENCE_PLUGINS_CHOICES_GUARD_H_
