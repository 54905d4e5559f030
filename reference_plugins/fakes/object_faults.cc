// The objects that new_* ops fill.

#include "faults.h"

namespace fakes {
namespace {

int anything;

// Performs the right op, and leaves something in the object when it fails.
template <auto Entry, auto Pointer, typename Object>
void SetOnError(Filesystem filesystem, Path path, Object* object, Status status) {
  (Right().*Entry)(filesystem, path, object, status);
  if (!Worked(status)) object->*Pointer = &anything;
}

constexpr auto kReader = &TF_RandomAccessFile::plugin_file;
constexpr auto kWriter = &TF_WritableFile::plugin_file;
constexpr auto kRegion = &TF_ReadOnlyMemoryRegion::plugin_memory_region;

}  // namespace

std::vector<Fault> ObjectFaults() {
  return {
      {"object.set-on-error", "every new_* op leaves a pointer in the object when it fails",
       "on an error the object stays as it came",
       Together(
           With(&Ops::new_random_access_file, SetOnError<&Ops::new_random_access_file, kReader>),
           With(&Ops::new_writable_file, SetOnError<&Ops::new_writable_file, kWriter>),
           With(&Ops::new_appendable_file, SetOnError<&Ops::new_appendable_file, kWriter>),
           With(&Ops::new_read_only_memory_region_from_file,
                SetOnError<&Ops::new_read_only_memory_region_from_file, kRegion>))},
  };
}

}  // namespace fakes
