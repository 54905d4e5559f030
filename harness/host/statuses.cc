#include "statuses.h"

#include <cstring>

namespace tffs {
namespace {

constexpr TF_Code kMark = TF_DATA_LOSS;
constexpr const char* kMarkText = "tffs: this status went back to the host";

struct Preset {
  TF_Code code = TF_OK;
  std::string message;
};
// Set between ops only, so threads that perform ops may read it without a lock.
Preset preset;

struct Delete {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
thread_local std::unique_ptr<TF_Status, Delete> retired;

}  // namespace

void RetireStatus::operator()(TF_Status* status) const {
  TF_SetStatus(status, kMark, kMarkText);
  retired.reset(status);
}

StatusPointer FreshStatus() {
  StatusPointer status(TF_NewStatus());
  if (preset.code != TF_OK) TF_SetStatus(status.get(), preset.code, preset.message.c_str());
  return status;
}

void PresetStatuses(TF_Code code, const std::string& message) { preset = {code, message}; }

bool RetiredStatusChanged() {
  return retired != nullptr && (TF_GetCode(retired.get()) != kMark ||
                                std::strcmp(TF_Message(retired.get()), kMarkText) != 0);
}

}  // namespace tffs
