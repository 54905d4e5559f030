// Ops that are not there, so that core does what it has a default for.

#include "choices.h"

namespace choices {
namespace {

template <typename Table, typename Function>
void TakeAway(support::Tables& tables, Function Table::* entry) {
  fakes::TableOf<Table>(tables).*entry = nullptr;
}

template <auto... Entries>
void Without(support::Tables& tables) {
  (TakeAway(tables, Entries), ...);
}

constexpr auto kNoTreeOps = Without<&Ops::recursively_create_dir, &Ops::delete_recursively,
                                    &Ops::rename_file, &Ops::copy_file, &Ops::get_matching_paths>;

void NoOptionalOps(support::Tables& tables) {
  kNoTreeOps(tables);
  Without<&Ops::paths_exist, &Ops::is_directory, &Ops::get_file_size, &Ops::translate_name,
          &Ops::flush_caches, &WriterOps::flush, &WriterOps::sync>(tables);
}

constexpr auto kReadOnly =
    Without<&Ops::new_writable_file, &Ops::new_appendable_file, &Ops::create_dir,
            &Ops::recursively_create_dir, &Ops::delete_file, &Ops::delete_dir,
            &Ops::delete_recursively, &Ops::rename_file, &Ops::copy_file>;

}  // namespace

std::vector<Choice> AbsentChoices() {
  return {
      {"no-sync", "what is done where sync is NULL (A22)", "sync is NULL",
       Without<&WriterOps::sync>, false},
      {"no-tree-ops", "which ops have to be there", "none for which core asks is_directory",
       kNoTreeOps, false},
      {"read-only", "which ops have to be there", "none that changes anything", kReadOnly, false},
      {"no-optional-ops", "which ops have to be there", "none that core replaces", NoOptionalOps,
       false},
  };
}

}  // namespace choices
