#include "statuses.h"

#include <cstring>
#include <deque>

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
// The op that writes to a status it kept is rarely the very next one.
constexpr size_t kRetired = 32;
thread_local std::deque<std::unique_ptr<TF_Status, Delete>> retired;

void Mark(TF_Status* status) { TF_SetStatus(status, kMark, kMarkText); }

bool Marked(const TF_Status* status) {
  return TF_GetCode(status) == kMark && std::strcmp(TF_Message(status), kMarkText) == 0;
}

}  // namespace

void RetireStatus::operator()(TF_Status* status) const {
  Mark(status);
  retired.emplace_back(status);
  if (retired.size() > kRetired) retired.pop_front();
}

StatusPointer FreshStatus() {
  StatusPointer status(TF_NewStatus());
  if (preset.code != TF_OK) TF_SetStatus(status.get(), preset.code, preset.message.c_str());
  return status;
}

void PresetStatuses(TF_Code code, const std::string& message) { preset = {code, message}; }

bool RetiredStatusChanged() {
  bool changed = false;
  for (const auto& status : retired) {
    if (Marked(status.get())) continue;
    changed = true;
    Mark(status.get());
  }
  return changed;
}

}  // namespace tffs
