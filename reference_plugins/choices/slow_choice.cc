// How long an op takes is nobody's rule: this plugin is as slow as a store far away.

#include <unistd.h>

#include "choices.h"
#include "path_ops.h"

namespace choices {
namespace {

constexpr useconds_t kFarAway = 20'000;  // microseconds

template <auto Entry, typename Type = decltype(Entry)>
struct Slow;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Slow<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);
  static Result Call(Arguments... arguments) {
    usleep(kFarAway);
    return before(arguments...);
  }
};

template <auto Entry, typename Ops>
void SlowDown(Ops& ops) {
  Slow<Entry>::before = Replace(ops, Entry, Slow<Entry>::Call);
}

struct SlowDownEach {
  support::Tables& tables;
  template <auto Entry>
  void Op() {
    SlowDown<Entry>(tables.filesystem);
  }
};

// What works without the store is as fast as ever: names, and bytes that wait to be written.
void FarAway(support::Tables& tables) {
  ForEachPathOp(SlowDownEach{tables});
  SlowDown<&TF_FilesystemOps::rename_file>(tables.filesystem);
  SlowDown<&TF_FilesystemOps::copy_file>(tables.filesystem);
  SlowDown<&TF_FilesystemOps::paths_exist>(tables.filesystem);
  SlowDown<&TF_FilesystemOps::get_matching_paths>(tables.filesystem);
  SlowDown<&TF_RandomAccessFileOps::read>(tables.random_access_file);
  SlowDown<&TF_WritableFileOps::flush>(tables.writable_file);
  SlowDown<&TF_WritableFileOps::sync>(tables.writable_file);
  SlowDown<&TF_WritableFileOps::close>(tables.writable_file);
}

}  // namespace

std::vector<Choice> SlowChoice() {
  return {{"slow", "how long an op takes", "20 ms, where it needs the store", FarAway, false}};
}

}  // namespace choices
