// Memory may run out in what a choice adds to an op: no exception leaves the plugin.

#include <tuple>
#include <type_traits>

#include "choices.h"
#include "support/status.h"

namespace choices {
namespace {

template <auto Entry, typename Type = decltype(Entry)>
struct Guard;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Guard<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);
  static Result Call(Arguments... arguments) noexcept {
    Status status = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    const auto op = [&] { return before(arguments...); };
    if constexpr (std::is_void_v<Result>) {
      support::Guarded(status, "", op);
    } else {
      return support::Guarded(status, "", std::is_same_v<Result, bool> ? Result() : Result(-1), op);
    }
  }
};

}  // namespace

void GuardOps(support::Tables& tables) { fakes::ForEachPathOp(Wrapping<Guard>{tables}); }

}  // namespace choices
