// Statuses that arrive with something in them.

#include <string>
#include <tuple>

#include "choices.h"

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
    Status status;
    TF_Code code;
    std::string message;
    ~Restore() {
      if (TF_GetCode(status) == TF_OK) TF_SetStatus(status, code, message.c_str());
    }
  };

  static Result Call(Arguments... arguments) {
    Status status = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    const Restore restore{status, TF_GetCode(status), TF_Message(status)};
    return before(arguments...);
  }
};

void LeaveStatusAlone(support::Tables& tables) {
  Wrapping<Leaves> wrapping{tables};
  wrapping.AddWithStatus();
}

}  // namespace

std::vector<Choice> StatusChoices() {
  return {
      {"leave-status-alone", "whether success sets the status (A12)", "it stays as it came",
       LeaveStatusAlone},
  };
}

}  // namespace choices
