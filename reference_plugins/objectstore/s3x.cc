#include "s3x.h"

#include "counters.h"
#include "filesystem.h"
#include "ops.h"

namespace objectstore {
namespace {

constexpr Plugin kPlugin = {kScheme, "S3X_CONFIG_PATH"};

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  Begin(filesystem, status, kPlugin, [] {
    Config config;
    ReadConfigFile(kPlugin, [&](const std::string& text) { config = ParseConfig(kPlugin, text); });
    return std::make_shared<Filesystem>(std::move(config), Proxy(), [](const S3& s3, Http&) {
      return std::make_unique<FromStore>(s3);
    });
  });
}

void GetConfiguration(const TF_Filesystem*, TF_Filesystem_Option** options, int* num_options,
                      TF_Status* status) noexcept {
  HandOut(kPlugin, NamedCounters, options, num_options, status);
}

}  // namespace

TF_FilesystemOps S3xOps() {
  TF_FilesystemOps ops = FilesystemOps();
  ops.init = Init;
  ops.get_filesystem_configuration = GetConfiguration;
  return ops;
}

}  // namespace objectstore
