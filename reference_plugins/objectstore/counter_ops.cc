// The op that hands out the counters, as options. Nobody sets them.

#include <vector>

#include "counters.h"
#include "failure.h"
#include "ops.h"
#include "support/options.h"

namespace dragonfly {
namespace {

struct Named {
  const char* name;
  const char* description;
  Counters::Counter Counters::* counter;
};

constexpr Named kCounters[] = {
    {"bytes_from_p2p", "bytes of objects that came through Dragonfly", &Counters::bytes_from_p2p},
    {"bytes_from_store", "bytes of objects that came from the store", &Counters::bytes_from_store},
    {"bytes_from_cache", "bytes of objects that were in cache_dir", &Counters::bytes_from_cache},
    {"requests_to_dfdaemon", "requests, tries again included", &Counters::requests_to_dfdaemon},
    {"requests_to_store", "requests, tries again included", &Counters::requests_to_store},
    {"retries", "tries again, at the store, dfdaemon, and credentials", &Counters::retries},
    {"fallbacks", "objects for which dfdaemon failed and the store was asked",
     &Counters::fallbacks},
    {"evictions", "objects, or parts, that left cache_dir for others", &Counters::evictions}};

}  // namespace

// Of no filesystem: who has no TF_Filesystem, such as a program that watches, gives NULL.
void GetConfiguration(const TF_Filesystem*, TF_Filesystem_Option** options, int* num_options,
                      TF_Status* status) noexcept {
  Perform(status, "dragonfly", [&] {
    std::vector<support::Option> all;
    for (const Named& one : kCounters) {
      TF_Filesystem_Option_Value_Union value = {};
      value.int_val = static_cast<int64_t>(counters().*one.counter);
      all.push_back({one.name, one.description, TF_Filesystem_Option_Type_Int, value});
    }
    *options = support::CopyOptions(all);
    *num_options = static_cast<int>(all.size());
  });
}

}  // namespace dragonfly
