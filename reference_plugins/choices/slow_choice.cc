// How long an op takes is nobody's rule: this plugin is as slow as a store far away.

#include <unistd.h>

#include "choices.h"

namespace choices {
namespace {

template <auto Entry, typename Type = decltype(Entry)>
struct Slow;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Slow<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);
  static Result Call(Arguments... arguments) {
    usleep(static_cast<useconds_t>(AmountOr(20) * 1000));
    return before(arguments...);
  }
};

// What works without the store is as fast as ever: names, and bytes that wait to be written.
void FarAway(support::Tables& tables) {
  Wrapping<Slow> wrapping{tables};
  fakes::ForEachPathOp(wrapping);
  wrapping.Add<&Ops::paths_exist>();
  wrapping.Add<&ReaderOps::read>();
  wrapping.Add<&WriterOps::flush>();
  wrapping.Add<&WriterOps::sync>();
  wrapping.Add<&WriterOps::close>();
}

}  // namespace

std::vector<Choice> SlowChoice() {
  return {{"slow", "how long an op takes", "20 ms, where it needs the store", FarAway, false}};
}

}  // namespace choices
