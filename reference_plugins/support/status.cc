#include "support/status.h"

#include <string>

namespace support {

void SetError(TF_Status* status, TF_Code code, const char* path, const char* reason) noexcept {
  try {
    TF_SetStatus(status, code, (std::string(path) + "; " + reason).c_str());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, code, reason);
  }
}

}  // namespace support
