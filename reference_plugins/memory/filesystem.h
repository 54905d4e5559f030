// The state of one filesystem, and how ops get at it. There is nothing global: each init makes a
// filesystem of its own, and its cleanup frees it.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_FILESYSTEM_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_FILESYSTEM_H_

#include <memory>
#include <mutex>
#include <string>

#include "settings.h"
#include "support/forks.h"
#include "support/status.h"
#include "tf_filesystem_plugin.h"
#include "transactions.h"
#include "tree.h"

namespace memory {

inline constexpr const char* kScheme = "memory";

struct Filesystem {
  // Guards all below but the space. An op holds it for some look-ups, never while the bytes of a
  // file are copied; and a mutex lets every thread have its turn, while readers that share a lock
  // can keep a writer waiting for ever.
  std::mutex mutex;
  Tree tree;
  Transactions transactions;
  Settings settings;
  // Shared with the files, which may outlive the filesystem.
  std::shared_ptr<Space> space = std::make_shared<Space>();
  // Behind the space: an op that holds the mutex takes its locks.
  const support::ForkGuard forks{mutex, [] {}};
};

// The state belongs to the plugin and may change where the wrapper is const.
inline Filesystem& Get(const TF_Filesystem* filesystem) {
  return *static_cast<Filesystem*>(filesystem->plugin_filesystem);
}

// An op on one path: performs `op(state, path)`, which gives 0 or an errno value, with the path in
// its stored form and nobody else at the state; and answers accordingly.
template <typename Op>
void OnPath(const TF_Filesystem* filesystem, const char* path, TF_Status* status, Op op) noexcept {
  support::Guarded(status, path, [&] {
    std::string normal;
    int error = Normalize(path, &normal);
    if (error == 0) {
      Filesystem& state = Get(filesystem);
      const std::lock_guard<std::mutex> lock(state.mutex);
      error = op(state, normal);
    }
    support::SetErrno(status, error, path);
  });
}

TF_FilesystemOps FilesystemOps();

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_FILESYSTEM_H_
