// What went wrong inside an op, on its way to the status. It never leaves the plugin: Perform turns
// it into a code and a message.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FAILURE_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FAILURE_H_

#include <stdexcept>
#include <string>

#include "patience.h"
#include "support/status.h"
#include "tf_filesystem_plugin.h"

namespace objectstore {

// The text is for a person, and holds no query strings, no credentials and no content.
class Failure : public std::runtime_error {
 public:
  Failure(TF_Code code, const std::string& text) : std::runtime_error(text), code_(code) {}

  TF_Code code() const { return code_; }

 private:
  TF_Code code_;
};

// The answer of an op: performs `op`, says OK where it comes back, and gives what it gives; where
// it fails, gives `failed` and says "<path>; <reason>".
template <typename Result, typename Action>
Result Perform(TF_Status* status, const char* path, Result failed, Action op) noexcept {
  const Op patient;
  return support::Guarded(status, path, failed, [&] {
    try {
      Result result = op();
      support::SetOk(status);
      return result;
    } catch (const Failure& failure) {
      support::SetError(status, failure.code(), path, failure.what());
      return failed;
    }
  });
}

template <typename Action>
void Perform(TF_Status* status, const char* path, Action op) noexcept {
  Perform(status, path, 0, [&op] {
    op();
    return 0;
  });
}

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_FAILURE_H_
