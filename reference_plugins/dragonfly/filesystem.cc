#include "dragonfly/filesystem.h"

#include "dragonfly/config.h"
#include "dragonfly/dragonfly.h"
#include "objectstore/filesystem.h"
#include "objectstore/ops.h"

namespace dragonfly {
namespace {

constexpr objectstore::Plugin kPlugin = {kScheme, "DRAGONFLY_CONFIG_PATH"};

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  objectstore::Begin(filesystem, status, kPlugin, [] {
    const Config config = ReadConfig(kPlugin);
    return std::make_shared<objectstore::Filesystem>(
        config.store, objectstore::Proxy{config.addr, kDfdaemon, "X-Dragonfly-Error-Type"},
        [&](const objectstore::S3& s3, objectstore::Http& http) {
          return std::make_unique<Dragonfly>(config, s3, http);
        });
  });
}

std::vector<objectstore::NamedCounter> AllCounters() {
  const Counters& own = counters();
  std::vector<objectstore::NamedCounter> all = objectstore::NamedCounters();
  const auto put = [&](std::ptrdiff_t place, const objectstore::NamedCounter& one) {
    all.insert(all.begin() + place, one);
  };
  put(0, {"bytes_from_p2p", "bytes of objects that came through Dragonfly", &own.bytes_from_p2p});
  put(3, {"requests_to_dfdaemon", "requests, tries again included", &own.requests_to_dfdaemon});
  put(6,
      {"fallbacks", "objects for which dfdaemon failed and the store was asked", &own.fallbacks});
  return all;
}

void GetConfiguration(const TF_Filesystem*, TF_Filesystem_Option** options, int* num_options,
                      TF_Status* status) noexcept {
  objectstore::HandOut(kPlugin, AllCounters, options, num_options, status);
}

}  // namespace

TF_FilesystemOps FilesystemOps() {
  TF_FilesystemOps ops = objectstore::FilesystemOps();
  ops.init = Init;
  ops.get_filesystem_configuration = GetConfiguration;
  return ops;
}

}  // namespace dragonfly
