// Ops that are not there, so that core does what it has a default for.

#include <string>
#include <tuple>
#include <type_traits>

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

// An op that answers `code`, and does nothing.
template <TF_Code code, typename Function>
struct Refused;
template <TF_Code code, typename Result, typename... Arguments>
struct Refused<code, Result (*)(Arguments...)> {
  static Result Call(Arguments... arguments) {
    constexpr const char* kMessage = "this plugin does not do that";
    const auto all = std::tuple(arguments...);
    using Last = std::tuple_element_t<sizeof...(Arguments) - 1, decltype(all)>;
    if constexpr (std::is_same_v<Last, const Status>) {
      TF_SetStatus(std::get<sizeof...(Arguments) - 1>(all), code, kMessage);
    } else if constexpr (std::is_same_v<Last,
                                        Status* const>) {  // paths_exist has one for each path
      for (int k = 0; std::get<3>(all) != nullptr && k < std::get<2>(all); ++k)
        TF_SetStatus(std::get<3>(all)[k], code, kMessage);
    }
    if constexpr (std::is_same_v<Result, int> || std::is_same_v<Result, int64_t>) {
      return -1;
    } else if constexpr (!std::is_void_v<Result>) {
      return Result();
    }
  }
};

// Leaves out the op `name`, or lets it answer an error in the way that is chosen.
struct LeaveOut {
  support::Tables& tables;
  const std::string way;
  const std::string name;
  bool found = false;

  template <auto Entry>
  void Op(const char* op) {
    if (op != name) return;
    found = true;
    Leave(Entry);
  }
  template <typename Table, typename Function>
  void Leave(Function Table::* entry) {
    Replace(tables, entry,
            way == "without"       ? nullptr
            : way == "unsupported" ? Refused<TF_UNIMPLEMENTED, Function>::Call
            : way == "denied"      ? Refused<TF_PERMISSION_DENIED, Function>::Call
                                   : Refused<TF_FAILED_PRECONDITION, Function>::Call);
  }
};

}  // namespace

bool LeaveOutOp(support::Tables& tables, const std::string& choice) {
  const size_t colon = choice.find(':');
  const std::string way = choice.substr(0, colon);
  if (way != "without" && way != "unsupported" && way != "denied" && way != "refused") return false;
  LeaveOut leave{tables, way, choice.substr(colon + 1)};
  fakes::ForEachOp(leave);
  return leave.found;
}

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
