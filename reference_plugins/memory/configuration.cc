// The ops for configuration. What the caller lends is copied; what it gets is its own, block by
// block.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "filesystem.h"
#include "ops.h"
#include "settings.h"
#include "support/memory.h"
#include "support/options.h"

namespace memory {
namespace {

// Copies of some options for the caller. Throws std::bad_alloc, and leaves nothing behind then.
TF_Filesystem_Option* Copies(const Option* options, size_t count, const Settings& settings) {
  std::vector<support::Option> all;
  for (const Option* one = options; one != options + count; ++one) {
    all.push_back({one->name, one->description, one->type, one->get(settings)});
  }
  return support::CopyOptions(all);
}

// Sets options, all or none.
void Set(const TF_Filesystem* filesystem, const TF_Filesystem_Option* options, int count,
         TF_Status* status) noexcept {
  support::Guarded(status, kScheme, [&] {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    Settings settings = state.settings;
    for (int k = 0; k < count; ++k) {
      const char* name = options[k].name != nullptr ? options[k].name : "";
      const Option* option = FindOption(name);
      if (option == nullptr) return support::SetError(status, TF_NOT_FOUND, name, "no such option");
      const TF_Filesystem_Option_Value* value = options[k].value;
      if (value == nullptr || value->num_values != 1 || value->values == nullptr) {
        return support::SetError(status, TF_INVALID_ARGUMENT, name, "the option has one value");
      }
      if (value->type_tag != option->type) {
        return support::SetError(status, TF_INVALID_ARGUMENT, name, "the value is of another type");
      }
      if (!option->set(*value->values, &settings)) {
        return support::SetError(status, TF_INVALID_ARGUMENT, name, "the value is out of range");
      }
    }
    state.space->Limit(settings.capacity);
    state.settings = std::move(settings);
    support::SetOk(status);
  });
}

}  // namespace

void GetConfiguration(const TF_Filesystem* filesystem, TF_Filesystem_Option** options,
                      int* num_options, TF_Status* status) noexcept {
  support::Guarded(status, kScheme, [&] {
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    *options = Copies(kOptions.data(), kOptions.size(), state.settings);
    *num_options = static_cast<int>(kOptions.size());
    support::SetOk(status);
  });
}

void SetConfiguration(const TF_Filesystem* filesystem, const TF_Filesystem_Option* options,
                      int num_options, TF_Status* status) noexcept {
  Set(filesystem, options, num_options, status);
}

void GetOption(const TF_Filesystem* filesystem, const char* key, TF_Filesystem_Option** option,
               TF_Status* status) noexcept {
  support::Guarded(status, key, [&] {
    const Option* found = FindOption(key);
    if (found == nullptr) return support::SetError(status, TF_NOT_FOUND, key, "no such option");
    Filesystem& state = Get(filesystem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    *option = Copies(found, 1, state.settings);
    support::SetOk(status);
  });
}

void SetOption(const TF_Filesystem* filesystem, const TF_Filesystem_Option* option,
               TF_Status* status) noexcept {
  Set(filesystem, option, 1, status);
}

// The argument's type lacks a level, so an array of strings cannot be handed over, and an array of
// the caller's would have no length. What fits the type is one block: all keys, each with its NUL,
// one behind the other. Who takes it for one string reads the first key; there is one block to
// free.
void GetKeys(const TF_Filesystem*, char** keys, int* num_keys, TF_Status* status) noexcept {
  support::Guarded(status, kScheme, [&] {
    std::string all;
    for (const Option& option : kOptions) all.append(option.name).push_back('\0');
    auto* block = static_cast<char*>(support::Allocate(all.size()));
    if (block == nullptr) throw std::bad_alloc();
    std::memcpy(block, all.data(), all.size());
    *keys = block;
    *num_keys = static_cast<int>(kOptions.size());
    support::SetOk(status);
  });
}

}  // namespace memory
