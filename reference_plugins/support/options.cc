#include "options.h"

#include <cstring>
#include <new>

#include "memory.h"

namespace support {
namespace {

// Blocks that the caller will free. Zeroed, so that what is half made can be freed.
template <typename T>
T* Make(size_t count) {
  void* block = Allocate(count * sizeof(T));
  if (block == nullptr) throw std::bad_alloc();
  return static_cast<T*>(std::memset(block, 0, count * sizeof(T)));
}

char* MakeString(const char* text) {
  char* copy = CopyString(text);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

void FreeOptions(TF_Filesystem_Option* options, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    if (options[k].value != nullptr && options[k].value->values != nullptr &&
        options[k].value->type_tag == TF_Filesystem_Option_Type_Buffer) {
      Free(options[k].value->values->buffer_val.buf);
    }
    if (options[k].value != nullptr) Free(options[k].value->values);
    Free(options[k].value);
    Free(options[k].description);
    Free(options[k].name);
  }
  Free(options);
}

void Fill(const Option& option, TF_Filesystem_Option* filled) {
  filled->name = MakeString(option.name);
  filled->description = MakeString(option.description);
  filled->value = Make<TF_Filesystem_Option_Value>(1);
  filled->value->type_tag = option.type;
  filled->value->num_values = 1;
  filled->value->values = Make<TF_Filesystem_Option_Value_Union>(1);
  TF_Filesystem_Option_Value_Union value = option.value;
  if (option.type == TF_Filesystem_Option_Type_Buffer) {
    const auto length = static_cast<size_t>(value.buffer_val.buf_length);
    char* copy = Make<char>(length + 1);  // a block also where there are no bytes
    if (length > 0) std::memcpy(copy, value.buffer_val.buf, length);
    value.buffer_val.buf = copy;
  }
  *filled->value->values = value;
}

}  // namespace

TF_Filesystem_Option* CopyOptions(const std::vector<Option>& options) {
  auto* copies = Make<TF_Filesystem_Option>(options.size());
  try {
    for (size_t k = 0; k < options.size(); ++k) Fill(options[k], &copies[k]);
  } catch (...) {
    FreeOptions(copies, options.size());
    throw;
  }
  return copies;
}

}  // namespace support
