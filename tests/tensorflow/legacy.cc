// A filesystem as TensorFlow had them before plugins: a C++ class, which registers itself when its
// library is loaded. It is TensorFlow's own one of local files, under another scheme; with
// TFFS_FAULT it finds what is not there.

#include <cstdlib>
#include <string>

#include "xla/tsl/platform/default/posix_file_system.h"
#include "xla/tsl/platform/env.h"

namespace {

class LegacyFileSystem : public tsl::PosixFileSystem {
 public:
  using PosixFileSystem::FileExists;

  absl::Status FileExists(const std::string& path, tsl::TransactionToken* token) override {
    if (std::getenv("TFFS_FAULT") != nullptr) return absl::OkStatus();
    return PosixFileSystem::FileExists(path, token);
  }
};

REGISTER_FILE_SYSTEM("legacy", LegacyFileSystem);

}  // namespace
