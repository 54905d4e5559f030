// All 44 ops by name, for faults that fit more than one.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_OPS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_OPS_H_

#include <type_traits>

#include "posix/tables.h"
#include "tf_filesystem_plugin.h"

namespace fakes {

// The table of type `Ops` among `tables`, const where they are.
template <typename Ops, typename Tables>
auto& TableOf(Tables& tables) {
  if constexpr (std::is_same_v<Ops, TF_FilesystemOps>) {
    return tables.filesystem;
  } else if constexpr (std::is_same_v<Ops, TF_RandomAccessFileOps>) {
    return tables.random_access_file;
  } else if constexpr (std::is_same_v<Ops, TF_WritableFileOps>) {
    return tables.writable_file;
  } else {
    static_assert(std::is_same_v<Ops, TF_ReadOnlyMemoryRegionOps>);
    return tables.memory_region;
  }
}

// Calls `visitor.Op<entry>(name)` for every op, in the order of the tables.
template <typename Visitor>
void ForEachOp(Visitor& visitor) {
  using Reader = TF_RandomAccessFileOps;
  visitor.template Op<&Reader::cleanup>("random_access_file.cleanup");
  visitor.template Op<&Reader::read>("read");

  using Writer = TF_WritableFileOps;
  visitor.template Op<&Writer::cleanup>("writable_file.cleanup");
  visitor.template Op<&Writer::append>("append");
  visitor.template Op<&Writer::tell>("tell");
  visitor.template Op<&Writer::flush>("flush");
  visitor.template Op<&Writer::sync>("sync");
  visitor.template Op<&Writer::close>("close");

  using Region = TF_ReadOnlyMemoryRegionOps;
  visitor.template Op<&Region::cleanup>("read_only_memory_region.cleanup");
  visitor.template Op<&Region::data>("data");
  visitor.template Op<&Region::length>("length");

  using Filesystem = TF_FilesystemOps;
  visitor.template Op<&Filesystem::init>("init");
  visitor.template Op<&Filesystem::cleanup>("cleanup");
  visitor.template Op<&Filesystem::new_random_access_file>("new_random_access_file");
  visitor.template Op<&Filesystem::new_writable_file>("new_writable_file");
  visitor.template Op<&Filesystem::new_appendable_file>("new_appendable_file");
  visitor.template Op<&Filesystem::new_read_only_memory_region_from_file>(
      "new_read_only_memory_region_from_file");
  visitor.template Op<&Filesystem::create_dir>("create_dir");
  visitor.template Op<&Filesystem::recursively_create_dir>("recursively_create_dir");
  visitor.template Op<&Filesystem::delete_file>("delete_file");
  visitor.template Op<&Filesystem::delete_dir>("delete_dir");
  visitor.template Op<&Filesystem::delete_recursively>("delete_recursively");
  visitor.template Op<&Filesystem::rename_file>("rename_file");
  visitor.template Op<&Filesystem::copy_file>("copy_file");
  visitor.template Op<&Filesystem::path_exists>("path_exists");
  visitor.template Op<&Filesystem::paths_exist>("paths_exist");
  visitor.template Op<&Filesystem::stat>("stat");
  visitor.template Op<&Filesystem::is_directory>("is_directory");
  visitor.template Op<&Filesystem::get_file_size>("get_file_size");
  visitor.template Op<&Filesystem::translate_name>("translate_name");
  visitor.template Op<&Filesystem::get_children>("get_children");
  visitor.template Op<&Filesystem::get_matching_paths>("get_matching_paths");
  visitor.template Op<&Filesystem::flush_caches>("flush_caches");
  visitor.template Op<&Filesystem::start_transaction>("start_transaction");
  visitor.template Op<&Filesystem::end_transaction>("end_transaction");
  visitor.template Op<&Filesystem::add_to_transaction>("add_to_transaction");
  visitor.template Op<&Filesystem::get_transaction_for_path>("get_transaction_for_path");
  visitor.template Op<&Filesystem::get_or_start_transaction_for_path>(
      "get_or_start_transaction_for_path");
  visitor.template Op<&Filesystem::decode_transaction_token>("decode_transaction_token");
  visitor.template Op<&Filesystem::get_filesystem_configuration>("get_filesystem_configuration");
  visitor.template Op<&Filesystem::set_filesystem_configuration>("set_filesystem_configuration");
  visitor.template Op<&Filesystem::get_filesystem_configuration_option>(
      "get_filesystem_configuration_option");
  visitor.template Op<&Filesystem::set_filesystem_configuration_option>(
      "set_filesystem_configuration_option");
  visitor.template Op<&Filesystem::get_filesystem_configuration_keys>(
      "get_filesystem_configuration_keys");
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_OPS_H_
