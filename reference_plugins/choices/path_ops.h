// The ops that take paths, for choices that are about paths and not about an op.

#ifndef TFFS_REFERENCE_PLUGINS_CHOICES_PATH_OPS_H_
#define TFFS_REFERENCE_PLUGINS_CHOICES_PATH_OPS_H_

#include <tuple>
#include <type_traits>

#include "tf_filesystem_plugin.h"

namespace choices {

// An op that takes one path, wrapped by choice number `number`.
template <int number, auto Entry, typename Type = decltype(Entry)>
struct OnPath;

template <int number, auto Entry, typename Result, typename... Rest>
struct OnPath<number, Entry,
              Result (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, Rest...)> {
  static inline Result (*before)(const TF_Filesystem*, const char*, Rest...);

  static TF_Status* StatusIn(Rest... rest) {
    return std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
  }

  static Result Failed(Rest... rest) {
    if constexpr (std::is_same_v<std::tuple<Rest...>,
                                 std::tuple<uint64_t*, uint64_t*, TF_Status*>>) {
      const auto [files, dirs, status] = std::tuple(rest...);
      *files = 0;
      *dirs = 1;
    } else if constexpr (std::is_same_v<Result, bool>) {
      return false;
    } else if constexpr (!std::is_void_v<Result>) {
      return -1;
    }
  }
};

// Calls `visitor.template Op<entry>()` for every op that takes one path and has a status.
template <typename Visitor>
void ForEachPathOp(Visitor visitor) {
  using Ops = TF_FilesystemOps;
  visitor.template Op<&Ops::new_random_access_file>();
  visitor.template Op<&Ops::new_writable_file>();
  visitor.template Op<&Ops::new_appendable_file>();
  visitor.template Op<&Ops::new_read_only_memory_region_from_file>();
  visitor.template Op<&Ops::create_dir>();
  visitor.template Op<&Ops::recursively_create_dir>();
  visitor.template Op<&Ops::delete_file>();
  visitor.template Op<&Ops::delete_dir>();
  visitor.template Op<&Ops::delete_recursively>();
  visitor.template Op<&Ops::path_exists>();
  visitor.template Op<&Ops::stat>();
  visitor.template Op<&Ops::is_directory>();
  visitor.template Op<&Ops::get_file_size>();
  visitor.template Op<&Ops::get_children>();
}

using TwoPathOp = decltype(TF_FilesystemOps::rename_file);

// rename_file or copy_file, wrapped by choice number `number`.
template <int number>
struct OnTwoPaths {
  static inline TwoPathOp rename;
  static inline TwoPathOp copy;
};

}  // namespace choices

#endif  // TFFS_REFERENCE_PLUGINS_CHOICES_PATH_OPS_H_
