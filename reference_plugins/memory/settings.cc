#include "settings.h"

#include <cmath>

#include "filesystem.h"

namespace memory {
namespace {

using Value = TF_Filesystem_Option_Value_Union;

constexpr double kDay = 24 * 60 * 60;
constexpr double kNanosecondsInSecond = 1e9;

Value GetCapacity(const Settings& settings) {
  Value value{};
  value.int_val = settings.capacity;
  return value;
}

bool SetCapacity(const Value& value, Settings* settings) {
  if (value.int_val < 0 && value.int_val != Space::kUnlimited) return false;
  settings->capacity = value.int_val;
  return true;
}

Value GetGranularity(const Settings& settings) {
  Value value{};
  value.real_val = settings.mtime_granularity;
  return value;
}

bool SetGranularity(const Value& value, Settings* settings) {
  // Written so that what is no number is refused too.
  if (!(value.real_val >= 0 && value.real_val <= kDay)) return false;
  settings->mtime_granularity = value.real_val;
  return true;
}

Value GetLabel(const Settings& settings) {
  Value value{};
  value.buffer_val.buf = const_cast<char*>(settings.label.data());
  value.buffer_val.buf_length = static_cast<int>(settings.label.size());
  return value;
}

bool SetLabel(const Value& value, Settings* settings) {
  const auto& [bytes, length] = value.buffer_val;
  if (length < 0 || (bytes == nullptr && length > 0)) return false;
  settings->label.assign(length > 0 ? bytes : "", static_cast<size_t>(length));
  return true;
}

}  // namespace

const std::array<Option, 3> kOptions = {{
    {"capacity", "how many bytes all files may hold together; -1: as many as there is memory for",
     TF_Filesystem_Option_Type_Int, GetCapacity, SetCapacity},
    {"mtime_granularity", "seconds to a multiple of which times of change are rounded down",
     TF_Filesystem_Option_Type_Real, GetGranularity, SetGranularity},
    {"label", "stands in the text of tokens, to tell one filesystem from another",
     TF_Filesystem_Option_Type_Buffer, GetLabel, SetLabel},
}};

const Option* FindOption(std::string_view name) {
  for (const Option& option : kOptions) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

int64_t Settings::Coarse(int64_t time) const {
  const int64_t step = std::llround(mtime_granularity * kNanosecondsInSecond);
  return step == 0 ? time : time - time % step;
}

std::string Settings::Name() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name = kScheme;
  if (!label.empty()) name += ' ';
  for (const char c : label) {
    if (c > ' ' && c < 0x7f && c != '\\') {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return name;
}

}  // namespace memory
