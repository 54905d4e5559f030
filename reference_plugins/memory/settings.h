// What users can set, and what it does.

#ifndef TFFS_REFERENCE_PLUGINS_MEMORY_SETTINGS_H_
#define TFFS_REFERENCE_PLUGINS_MEMORY_SETTINGS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "content.h"
#include "tf_filesystem_plugin.h"

namespace memory {

struct Settings {
  int64_t capacity = Space::kUnlimited;  // bytes, of all files together
  double mtime_granularity = 0;          // seconds
  std::string label;                     // any bytes

  // A time in nanoseconds, rounded down to the granularity.
  int64_t Coarse(int64_t time) const;
  // What messages call this filesystem: the scheme, and the label in a form that can be shown.
  std::string Name() const;
};

// One option. Each has exactly one value.
struct Option {
  const char* name;
  const char* description;
  TF_Filesystem_Option_Type type;
  // For buffers, `buf` points into the settings.
  TF_Filesystem_Option_Value_Union (*get)(const Settings& settings);
  // Gives false for a value that means nothing. Copies what `value` points at.
  bool (*set)(const TF_Filesystem_Option_Value_Union& value, Settings* settings);
};

extern const std::array<Option, 3> kOptions;

// The option with this name, or NULL.
const Option* FindOption(std::string_view name);

}  // namespace memory

#endif  // TFFS_REFERENCE_PLUGINS_MEMORY_SETTINGS_H_
