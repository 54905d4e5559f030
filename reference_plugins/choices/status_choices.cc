// Statuses that arrive with something in them.

#include <string>
#include <tuple>

#include "choices.h"
#include "path_ops.h"

namespace choices {
namespace {

// An op with a status, wrapped so that success leaves the status as it came.
template <auto Entry, typename Type = decltype(Entry)>
struct Leaves;
template <auto Entry, typename Ops, typename Result, typename... Arguments>
struct Leaves<Entry, Result (*Ops::*)(Arguments...)> {
  static inline Result (*before)(Arguments...);

  // Puts back what the status said, where the op succeeded.
  struct Restore {
    TF_Status* status;
    TF_Code code;
    std::string message;
    ~Restore() {
      if (TF_GetCode(status) == TF_OK) TF_SetStatus(status, code, message.c_str());
    }
  };

  static Result Call(Arguments... arguments) {
    TF_Status* status = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    const Restore restore{status, TF_GetCode(status), TF_Message(status)};
    return before(arguments...);
  }
};

template <auto Entry, typename Ops>
void Leave(Ops& ops) {
  Leaves<Entry>::before = Replace(ops, Entry, Leaves<Entry>::Call);
}

struct LeaveEach {
  support::Tables& tables;
  template <auto Entry>
  void Op() {
    Leave<Entry>(tables.filesystem);
  }
};

void LeaveStatusAlone(support::Tables& tables) {
  ForEachPathOp(LeaveEach{tables});
  Leave<&TF_FilesystemOps::rename_file>(tables.filesystem);
  Leave<&TF_FilesystemOps::copy_file>(tables.filesystem);
  Leave<&TF_FilesystemOps::get_matching_paths>(tables.filesystem);
  Leave<&TF_RandomAccessFileOps::read>(tables.random_access_file);
  Leave<&TF_WritableFileOps::append>(tables.writable_file);
  Leave<&TF_WritableFileOps::tell>(tables.writable_file);
  Leave<&TF_WritableFileOps::flush>(tables.writable_file);
  Leave<&TF_WritableFileOps::sync>(tables.writable_file);
  Leave<&TF_WritableFileOps::close>(tables.writable_file);
}

}  // namespace

std::vector<Choice> StatusChoices() {
  return {
      {"leave-status-alone", "whether success sets the status (A12)", "it stays as it came",
       LeaveStatusAlone},
  };
}

}  // namespace choices
