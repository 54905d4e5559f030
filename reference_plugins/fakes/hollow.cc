// libhollow.so: every op is there, and none does anything. TFFS_FAULT says what they answer.
//
// No case may be content with either of the two; tests/faults/test_hollow.py lists those that are,
// and why.

#include <type_traits>

#include "choice.h"
#include "ops.h"
#include "posix/tables.h"

namespace {

// What all ops answer.
TF_Code answer = TF_OK;

// Arguments are left alone, but for statuses.
template <typename T>
void Set(T) {}
void Set(TF_Status* status) { TF_SetStatus(status, answer, answer == TF_OK ? "" : "hollow"); }

// An op that does nothing, in place of `Entry`.
template <typename Result, typename... Arguments>
Result Nothing(Arguments... arguments) {
  (Set(arguments), ...);
  if constexpr (std::is_same_v<Result, bool>) {
    return answer == TF_OK;
  } else if constexpr (std::is_integral_v<Result>) {
    return answer == TF_OK ? Result{} : static_cast<Result>(-1);
  } else if constexpr (!std::is_void_v<Result>) {
    return nullptr;
  }
}

struct Emptied {
  support::Tables& tables;

  template <auto Entry>
  void Op(const char*) {
    Replace(Entry);
  }

  template <typename Table, typename Result, typename... Arguments>
  void Replace(Result (*Table::*entry)(Arguments...)) {
    fakes::TableOf<Table>(tables).*entry = Nothing<Result, Arguments...>;
  }
};

}  // namespace

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  fakes::ApplyChosen<TF_Code>({{"ok", "every op answers OK", "an op does what it says",
                                [](TF_Code& code) { code = TF_OK; }},
                               {"fails", "every op answers INTERNAL", "a legal call succeeds",
                                [](TF_Code& code) { code = TF_INTERNAL; }}},
                              answer);
  support::Tables tables;
  Emptied emptied{tables};
  fakes::ForEachOp(emptied);
  // Without these there would be nothing to judge: no scheme, and no names.
  tables.filesystem.init = posix::AllTables().filesystem.init;
  tables.filesystem.translate_name = nullptr;
  support::Register("hollow", tables, info);
}
