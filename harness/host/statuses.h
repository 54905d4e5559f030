// Statuses as the host hands them out: fresh ones, and a watch on those that came back.
#ifndef TFFS_HOST_STATUSES_H_
#define TFFS_HOST_STATUSES_H_

#include <memory>
#include <string>

#include "tf_filesystem_plugin.h"

namespace tffs {

// Keeps the status for some more calls, with a mark in it that nobody else knows.
struct RetireStatus {
  void operator()(TF_Status* status) const;
};
using StatusPointer = std::unique_ptr<TF_Status, RetireStatus>;

// A status for one call. It says OK, or what `PresetStatuses` asked for.
StatusPointer FreshStatus();

// From now on statuses arrive with this in them, in every thread.
void PresetStatuses(TF_Code code, const std::string& message);

// Whether one of the last statuses that this thread retired was written to since this was asked.
bool RetiredStatusChanged();

}  // namespace tffs

#endif  // TFFS_HOST_STATUSES_H_
