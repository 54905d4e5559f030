#include "allocations.h"

#include <dlfcn.h>

#include "crash.h"
#include "wire.h"

namespace tffs {
namespace {

// What allocator.cc has, nullptr in hosts without it.
void (*begin)(int64_t fails) = nullptr;
int64_t (*end)() = nullptr;

thread_local int64_t failing_call = -1;
thread_local int64_t failing_number = 0;
thread_local Allocations counted;

}  // namespace

Allocations WatchAllocations(int64_t call, int64_t number) {
  begin = reinterpret_cast<void (*)(int64_t)>(dlsym(RTLD_DEFAULT, "tffs_count_allocations"));
  end = reinterpret_cast<int64_t (*)()>(dlsym(RTLD_DEFAULT, "tffs_counted_allocations"));
  if (begin == nullptr || end == nullptr)
    throw Lacking("its allocator is not the one that can be made to fail");
  failing_call = call;
  failing_number = number;
  return std::exchange(counted, {});
}

Counted::Counted() {
  if (failing_call < 0) return;
  counted.emplace_back(running_op, 0);
  begin(static_cast<int64_t>(counted.size()) == failing_call ? failing_number : 0);
}

Counted::~Counted() {
  if (failing_call >= 0) counted.back().second = end();
}

}  // namespace tffs
