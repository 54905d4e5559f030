// The ops that take a path, for faults that are about paths and not about an op.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_PATH_OPS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_PATH_OPS_H_

#include "tf_filesystem_plugin.h"

namespace fakes {

// Calls `each.template Add<entry>(name)` for every op that takes a path.
template <typename Each>
void ForEachPathOp(Each each) {
  using Ops = TF_FilesystemOps;
  each.template Add<&Ops::new_random_access_file>("new_random_access_file");
  each.template Add<&Ops::new_writable_file>("new_writable_file");
  each.template Add<&Ops::new_appendable_file>("new_appendable_file");
  each.template Add<&Ops::new_read_only_memory_region_from_file>(
      "new_read_only_memory_region_from_file");
  each.template Add<&Ops::create_dir>("create_dir");
  each.template Add<&Ops::recursively_create_dir>("recursively_create_dir");
  each.template Add<&Ops::delete_file>("delete_file");
  each.template Add<&Ops::delete_dir>("delete_dir");
  each.template Add<&Ops::delete_recursively>("delete_recursively");
  each.template Add<&Ops::rename_file>("rename_file");
  each.template Add<&Ops::copy_file>("copy_file");
  each.template Add<&Ops::path_exists>("path_exists");
  each.template Add<&Ops::stat>("stat");
  each.template Add<&Ops::is_directory>("is_directory");
  each.template Add<&Ops::get_file_size>("get_file_size");
  each.template Add<&Ops::get_children>("get_children");
  each.template Add<&Ops::get_matching_paths>("get_matching_paths");
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_PATH_OPS_H_
