#include "statuses.h"

#include <cstring>
#include <vector>

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
// Those of the call before; in paths_exist a call has many.
thread_local std::vector<std::unique_ptr<TF_Status, Delete>> retired;

}  // namespace

void RetireStatus::operator()(TF_Status* status) const {
  TF_SetStatus(status, kMark, kMarkText);
  retired.emplace_back(status);
}

StatusPointer FreshStatus() {
  StatusPointer status(TF_NewStatus());
  if (preset.code != TF_OK) TF_SetStatus(status.get(), preset.code, preset.message.c_str());
  return status;
}

void PresetStatuses(TF_Code code, const std::string& message) { preset = {code, message}; }

bool FreeRetiredStatuses() {
  bool changed = false;
  for (const auto& status : retired)
    changed |=
        TF_GetCode(status.get()) != kMark || std::strcmp(TF_Message(status.get()), kMarkText) != 0;
  retired.clear();
  return changed;
}

}  // namespace tffs
