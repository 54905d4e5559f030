// The objects that new_* ops fill.

#include <vector>

#include "faults.h"

namespace fakes {
namespace {

using Filesystem = const TF_Filesystem*;

int anything;

// Performs the right op, and leaves something in the object when it fails.
template <auto Entry, auto Pointer, typename Object>
void SetOnError(Filesystem filesystem, const char* path, Object* object, TF_Status* status) {
  (Real().filesystem.*Entry)(filesystem, path, object, status);
  if (TF_GetCode(status) != TF_OK) object->*Pointer = &anything;
}

using Ops = TF_FilesystemOps;
constexpr auto kReader = &TF_RandomAccessFile::plugin_file;
constexpr auto kWriter = &TF_WritableFile::plugin_file;
constexpr auto kRegion = &TF_ReadOnlyMemoryRegion::plugin_memory_region;

}  // namespace

std::vector<Fault> ObjectFaults() {
  return {
      {"object.set-on-error", "every new_* op leaves a pointer in the object when it fails",
       "on an error the object stays as it came",
       [](support::Tables& t) {
         t.filesystem.new_random_access_file = SetOnError<&Ops::new_random_access_file, kReader>;
         t.filesystem.new_writable_file = SetOnError<&Ops::new_writable_file, kWriter>;
         t.filesystem.new_appendable_file = SetOnError<&Ops::new_appendable_file, kWriter>;
         t.filesystem.new_read_only_memory_region_from_file =
             SetOnError<&Ops::new_read_only_memory_region_from_file, kRegion>;
       }},
  };
}

}  // namespace fakes
