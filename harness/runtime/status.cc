// TF_Status: a code, a message and payloads.
#include <map>
#include <string>
#include <system_error>

#include "errno_code.h"
#include "tf_filesystem_plugin.h"

struct TF_Status {
  TF_Code code = TF_OK;
  std::string message;
  std::map<std::string, std::string> payloads;
};

TF_Status* TF_NewStatus(void) { return new TF_Status; }

void TF_DeleteStatus(TF_Status* status) { delete status; }

void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  const int number = static_cast<int>(code);
  status->code = number < TF_OK || number > TF_UNAUTHENTICATED ? TF_UNKNOWN : code;
  // The message may be the status's own, so it is copied before the old one goes.
  std::string text = status->code == TF_OK || message == nullptr ? "" : message;
  status->message = std::move(text);
  status->payloads.clear();
}

void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context) {
  const std::string message =
      std::string(context) + "; " + std::generic_category().message(error_code);
  TF_SetStatus(status, tffs::CodeOfErrno(error_code), message.c_str());
  // For 0 the oldest releases keep the message beside the OK, and end when they see it again.
  status->message = message;
}

TF_Code TF_GetCode(const TF_Status* status) { return status->code; }

const char* TF_Message(const TF_Status* status) { return status->message.c_str(); }

// A status that says OK carries nothing, as in TensorFlow.
void TF_SetPayload(TF_Status* status, const char* key, const char* value) {
  if (status->code != TF_OK) status->payloads[key] = value;
}

void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture) {
  for (const auto& [key, value] : status->payloads) visitor(key.c_str(), value.c_str(), capture);
}

// The names that TensorFlow's library exports beside those of its header.
extern "C" {
TF_Status* TSL_NewStatus(void);
void TSL_DeleteStatus(TF_Status* status);
void TSL_SetStatus(TF_Status* status, TF_Code code, const char* message);
void TSL_SetStatusFromIOError(TF_Status* status, int error_code, const char* context);
TF_Code TSL_GetCode(const TF_Status* status);
const char* TSL_Message(const TF_Status* status);
void TSL_SetPayload(TF_Status* status, const char* key, const char* value);
void TSL_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture);
}

TF_Status* TSL_NewStatus(void) { return TF_NewStatus(); }
void TSL_DeleteStatus(TF_Status* status) { TF_DeleteStatus(status); }
void TSL_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  TF_SetStatus(status, code, message);
}
void TSL_SetStatusFromIOError(TF_Status* status, int error_code, const char* context) {
  TF_SetStatusFromIOError(status, error_code, context);
}
TF_Code TSL_GetCode(const TF_Status* status) { return TF_GetCode(status); }
const char* TSL_Message(const TF_Status* status) { return TF_Message(status); }
void TSL_SetPayload(TF_Status* status, const char* key, const char* value) {
  TF_SetPayload(status, key, value);
}
void TSL_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture) {
  TF_ForEachPayload(status, visitor, capture);
}
