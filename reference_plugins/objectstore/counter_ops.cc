// What hands out the counters, as options. Nobody sets them.

#include "counters.h"
#include "failure.h"
#include "support/options.h"

namespace objectstore {

std::vector<NamedCounter> NamedCounters() {
  const Counters& all = counters();
  return {{"bytes_from_store", "bytes of objects that came from the store", &all.bytes_from_store},
          {"bytes_from_cache", "bytes of objects that were in cache_dir", &all.bytes_from_cache},
          {"requests_to_store", "requests, tries again included", &all.requests_to_store},
          {"retries", "tries again, whoever was asked", &all.retries},
          {"evictions", "objects, or parts, that left cache_dir for others", &all.evictions}};
}

// Of no filesystem: who has no TF_Filesystem, such as a program that watches, gives NULL.
void HandOut(const Plugin& plugin, std::vector<NamedCounter> (*counters)(),
             TF_Filesystem_Option** options, int* num_options, TF_Status* status) noexcept {
  Perform(status, plugin.scheme, [&] {
    std::vector<support::Option> all;
    for (const NamedCounter& one : counters()) {
      TF_Filesystem_Option_Value_Union value = {};
      value.int_val = static_cast<int64_t>(one.counter->load());
      all.push_back({one.name, one.description, TF_Filesystem_Option_Type_Int, value});
    }
    *options = support::CopyOptions(all);
    *num_options = static_cast<int>(all.size());
  });
}

}  // namespace objectstore
