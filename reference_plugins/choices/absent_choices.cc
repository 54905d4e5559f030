// Ops that are not there, so that core does what it has a default for.

#include "choices.h"

namespace choices {
namespace {

void NoOptionalOps(support::Tables& tables) {
  auto& ops = tables.filesystem;
  ops.recursively_create_dir = nullptr;
  ops.delete_recursively = nullptr;
  ops.rename_file = nullptr;
  ops.copy_file = nullptr;
  ops.paths_exist = nullptr;
  ops.is_directory = nullptr;
  ops.get_file_size = nullptr;
  ops.translate_name = nullptr;
  ops.get_matching_paths = nullptr;
  ops.flush_caches = nullptr;
  tables.writable_file.flush = nullptr;
  tables.writable_file.sync = nullptr;
}

void NoTreeOps(support::Tables& tables) {
  auto& ops = tables.filesystem;
  ops.recursively_create_dir = nullptr;
  ops.delete_recursively = nullptr;
  ops.rename_file = nullptr;
  ops.copy_file = nullptr;
  ops.get_matching_paths = nullptr;
}

void ReadOnly(support::Tables& tables) {
  auto& ops = tables.filesystem;
  ops.new_writable_file = nullptr;
  ops.new_appendable_file = nullptr;
  ops.create_dir = nullptr;
  ops.recursively_create_dir = nullptr;
  ops.delete_file = nullptr;
  ops.delete_dir = nullptr;
  ops.delete_recursively = nullptr;
  ops.rename_file = nullptr;
  ops.copy_file = nullptr;
}

}  // namespace

std::vector<Choice> AbsentChoices() {
  return {
      {"no-sync", "what is done where sync is NULL (A22)", "sync is NULL",
       [](support::Tables& tables) { tables.writable_file.sync = nullptr; }, false},
      {"no-tree-ops", "which ops have to be there", "none for which core asks is_directory",
       NoTreeOps, false},
      {"read-only", "which ops have to be there", "none that changes anything", ReadOnly, false},
      {"no-optional-ops", "which ops have to be there", "none that core replaces", NoOptionalOps,
       false},
  };
}

}  // namespace choices
