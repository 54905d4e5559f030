// Faults that fit many ops: "<kind>:<op>". One wrapper, made by template for every op, does what
// the chosen kind says.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "faults.h"
#include "mishaps.h"
#include "ops.h"

namespace fakes {
namespace {

// The ops that a kind fits.
enum class Fits {
  kEvery,        // all 44: nothing of the op is needed
  kPresent,      // those that posix has: the op is performed as well
  kWithStatus,   // those with a status: the op is not performed
  kAnswers,      // those that posix has, with a status
  kConstObject,  // those that posix has and that get their object const
  kWithPaths,    // those of the filesystem table that posix has and that get text const
};

struct Kind {
  const char* name;
  const char* what;
  const char* breaks;
  Fits fits;
  void (*before)() = nullptr;         // happens in front of the op
  void (*instead)(Status) = nullptr;  // answers in place of the op
  void (*after)(Status) = nullptr;    // changes what the op answered
  bool changes_object = false;
  bool writes_text = false;
};

void Become(Status status, TF_Code code, const char* message) {
  TF_SetStatus(status, code, message);
}

template <TF_Code From, TF_Code To>
void Turn(Status status) {
  if (TF_GetCode(status) == From) Become(status, To, "the fault turned one code into another");
}

template <TF_Code To>
void TurnErrors(Status status) {
  if (!Worked(status)) Become(status, To, "the fault turned every error into this");
}

template <TF_Code Code>
void Answer(Status status) {
  Become(status, Code, "the fault answers for the op");
}

void LengthenMessage(Status status) {
  if (Worked(status)) return;
  const char* size = std::getenv("TFFS_MESSAGE_BYTES");
  const std::string text(size != nullptr ? std::strtoull(size, nullptr, 10) : size_t{1} << 20, 'm');
  Become(status, TF_GetCode(status), text.c_str());
}

void LoseMessage(Status status) { Become(status, TF_GetCode(status), ""); }

void TellSecret(Status status) {
  if (Worked(status)) return;
  const char* secret = std::getenv("FAKE_TOKEN");
  Become(status, TF_INTERNAL, secret == nullptr ? "there is no FAKE_TOKEN" : secret);
}

void TellAtLength(Status status) {
  if (Worked(status)) return;
  Become(status, TF_GetCode(status), std::string(300 << 20, 'm').c_str());
}

constexpr const char* kReturns = "an op returns to its caller";
constexpr const char* kState = "an op leaves the process as it found it";
constexpr const char* kCodes = "the status has the code the interface names for the situation";
constexpr const char* kSound = "a plugin touches only memory that is its own, one thread at a time";

const std::vector<Kind>& Kinds() {
  // Ops may still ask when the process ends.
  static const auto& kinds = *new std::vector<Kind>{
      {"crash", "writes through a NULL pointer", kReturns, Fits::kEvery, Crash},
      {"hang", "blocks for ever, without using the processor", kReturns, Fits::kEvery, Hang},
      {"exit", "ends the process with exit(0)", kReturns, Fits::kEvery, Exit},
      {"abort", "ends the process with abort()", kReturns, Fits::kEvery, Abort},
      {"throw", "lets a C++ exception out", "the interface is C: no exception leaves a plugin",
       Fits::kEvery, Throw},

      {"ends-thread", "ends the thread that called it", kReturns, Fits::kPresent, EndThread},
      {"comes-back-twice", "forks, and returns in both processes", kReturns, Fits::kPresent,
       ForkAndReturn},
      {"closes-all", "closes all descriptors but 0, 1 and 2", kReturns, Fits::kPresent, CloseWire},

      {"replaces-all", "replaces all descriptors but 0, 1 and 2", kReturns, Fits::kPresent,
       ReplaceWire},
      {"writes-to-all", "writes a line to each descriptor but 0, 1 and 2", kReturns, Fits::kPresent,
       WriteToWire},

      {"never-waits", "has no descriptor but 0, 1 and 2 wait", kState, Fits::kPresent, NeverWait},
      {"uses-up-memory", "leaves no room for memory", kState, Fits::kPresent, UseUpMemory},

      {"leaks-memory", "loses 1 MiB", kState, Fits::kPresent, LeakMemory},
      {"leaks-bytes", "loses 16 bytes", kState, Fits::kPresent, LeakBytes},
      {"records-calls", "has a vector with 64 bytes of each call", kState, Fits::kPresent,
       RecordCall},
      {"leaks-descriptor", "leaves a descriptor open", kState, Fits::kPresent, LeakDescriptor},
      {"leaks-thread", "leaves a thread running", kState, Fits::kPresent, LeakThread},
      {"leaks-mapping", "leaves a mapping", kState, Fits::kPresent, LeakMapping},
      {"fills-a-cache", "keeps something of its first 200 calls, and no more of others",
       "none: what grows and stops is no leak", Fits::kPresent, FillCache},
      {"changes-directory", "changes the working directory to /", kState, Fits::kPresent,
       ChangeDirectory},
      {"changes-signals", "installs a handler for SIGUSR1", kState, Fits::kPresent, ChangeSignals},
      {"blocks-signals", "blocks SIGTERM", kState, Fits::kPresent, BlockSignals},
      {"changes-umask", "sets the umask to 0", kState, Fits::kPresent, ChangeUmask},
      {"changes-locale", "sets the locale to C.UTF-8", kState, Fits::kPresent, ChangeLocale},
      {"changes-environment", "sets an environment variable", kState, Fits::kPresent,
       ChangeEnvironment},
      {"changes-rounding", "has numbers rounded upwards", kState, Fits::kPresent, ChangeRounding},
      {"leaves-child", "leaves a process running", kState, Fits::kPresent, LeaveChild},
      {"leaves-daemon", "leaves a process running in a session of its own", kState, Fits::kPresent,
       LeaveDaemon},
      {"hangs-when-filled", "blocks for ever where the allocator fills what it gives",
       "none: a pool may be large", Fits::kPresent, HangWhenFilled},
      {"hangs-when-forked", "blocks for ever in a process that was forked since",
       "a program with a plugin in it can fork", Fits::kPresent, HangWhenForked},
      {"processes.stops-threads", "blocks for ever where the process is ending",
       "none: nobody waits for an op then", Fits::kPresent, HangWhenEnding},
      {"processes.uses-what-is-gone", "uses what the end of the process destroys",
       "a process that is at work can exit", Fits::kPresent, UseWhatIsGone},
      {"long-message", "answers with a message of 1 MiB", "a message is read by people",
       Fits::kAnswers, nullptr, nullptr, LengthenMessage},
      {"closes-streams", "closes descriptors 0, 1 and 2", kState, Fits::kPresent, CloseStreams},
      {"prints-stdout", "prints a line on the standard output", kState, Fits::kPresent, PrintOut},
      {"prints-stderr", "prints a line on the standard error", kState, Fits::kPresent, PrintError},

      {"uses-freed", "writes to a freed block", kSound, Fits::kPresent, UseFreed},
      {"overflows-heap", "writes one byte behind a block", kSound, Fits::kPresent, OverflowHeap},
      {"frees-twice", "frees a block twice", kSound, Fits::kPresent, FreeTwice},
      {"branches-on-garbage", "decides by memory that nobody wrote", kSound, Fits::kPresent,
       BranchOnGarbage},
      {"reads-behind", "looks at the byte behind a block", kSound, Fits::kPresent, ReadBehind},
      {"frees-otherwise", "frees with free what new has allocated", kSound, Fits::kPresent,
       FreeOtherwise},
      {"writes-garbage", "hands memory that nobody wrote to the kernel", kSound, Fits::kPresent,
       WriteGarbage},
      {"overlaps", "copies with strcpy what overlaps", kSound, Fits::kPresent, CopyOverlapping},
      {"races", "counts its calls in a variable without a lock", kSound, Fits::kPresent, Race},

      {"null", "the entry is NULL", "an op that the plugin's users need is there", Fits::kPresent},
      {"unimplemented", "the entry is there, and answers UNIMPLEMENTED",
       "an op that is there does its work", Fits::kWithStatus, nullptr, Answer<TF_UNIMPLEMENTED>},
      {"fails", "answers INTERNAL and does nothing", "a legal call succeeds", Fits::kWithStatus,
       nullptr, Answer<TF_INTERNAL>},

      {"status-ok", "answers OK when it failed", kCodes, Fits::kAnswers, nullptr, nullptr,
       Answer<TF_OK>},
      {"status-unknown", "answers UNKNOWN to every failure", kCodes, Fits::kAnswers, nullptr,
       nullptr, TurnErrors<TF_UNKNOWN>},
      {"wrong-code", "answers INTERNAL to every failure", kCodes, Fits::kAnswers, nullptr, nullptr,
       TurnErrors<TF_INTERNAL>},
      {"status-error", "does its work, and answers INTERNAL", kCodes, Fits::kAnswers, nullptr,
       nullptr, Turn<TF_OK, TF_INTERNAL>},
      {"missing-is-ok", "answers OK in place of NOT_FOUND", kCodes, Fits::kAnswers, nullptr,
       nullptr, Turn<TF_NOT_FOUND, TF_OK>},
      {"invalid-is-missing", "answers NOT_FOUND in place of FAILED_PRECONDITION, as flat stores do",
       kCodes, Fits::kAnswers, nullptr, nullptr, Turn<TF_FAILED_PRECONDITION, TF_NOT_FOUND>},
      {"missing-is-invalid", "answers FAILED_PRECONDITION in place of NOT_FOUND", kCodes,
       Fits::kAnswers, nullptr, nullptr, Turn<TF_NOT_FOUND, TF_FAILED_PRECONDITION>},
      {"failure-is-unimplemented", "answers UNIMPLEMENTED to every failure", kCodes, Fits::kAnswers,
       nullptr, nullptr, TurnErrors<TF_UNIMPLEMENTED>},
      {"no-message", "gives failures no message", "a message names the path and the reason",
       Fits::kAnswers, nullptr, nullptr, LoseMessage},
      {"tells-secret", "answers INTERNAL to every failure, with the value of FAKE_TOKEN as message",
       kCodes, Fits::kAnswers, nullptr, nullptr, TellSecret},
      {"huge-message", "gives failures a message of 300 MiB", "a message is one for people",
       Fits::kAnswers, nullptr, nullptr, TellAtLength},

      {"wrapper.changes", "changes the pointer inside the object it gets const",
       "only init, cleanup and new_* may change an object's pointer", Fits::kConstObject, nullptr,
       nullptr, nullptr, true, false},
      {"argument.writes", "writes to the path it gets const", "arguments belong to the caller",
       Fits::kWithPaths, nullptr, nullptr, nullptr, false, true},
  };
  return kinds;
}

Status AsStatus(Status argument) { return argument; }
template <typename Argument>
Status AsStatus(Argument) {
  return nullptr;
}

void Scribble(const char* text) {
  if (*text != '\0') const_cast<char*>(text)[0] ^= 1;
}
template <typename Argument>
void Scribble(Argument) {}

// What a call gives that did not do its work.
template <typename Result>
Result Failed() {
  if constexpr (std::is_same_v<Result, bool> || std::is_pointer_v<Result>) {
    return Result{};
  } else if constexpr (!std::is_void_v<Result>) {
    return static_cast<Result>(-1);
  }
}

// An object whose pointer wrapper.changes has changed carries this mark, so that the ops after it
// still find what is theirs, and nothing but the change is wrong. (posix has nothing behind the
// filesystem's pointer.)
constexpr uintptr_t kMark = 1;

template <typename Object>
void*& PointerIn(Object* object) {
  static_assert(sizeof(Object) == sizeof(void*));
  return *reinterpret_cast<void**>(const_cast<std::remove_const_t<Object>*>(object));
}

template <auto Entry, typename Type = decltype(Entry)>
struct Faulty;

template <auto Entry, typename Ops, typename Result, typename Object, typename... Arguments>
struct Faulty<Entry, Result (*Ops::*)(Object*, Arguments...)> {
  static constexpr bool kHasStatus = (std::is_same_v<Arguments, Status> || ...);
  static constexpr bool kGetsConst = std::is_const_v<Object>;
  static constexpr bool kHasPaths =
      std::is_same_v<Ops, TF_FilesystemOps> && (std::is_same_v<Arguments, const char*> || ...);

  static bool Suits(Fits fits) {
    const bool present = TableOf<Ops>(Real()).*Entry != nullptr;
    switch (fits) {
      case Fits::kEvery:
        return true;
      case Fits::kPresent:
        return present;
      case Fits::kWithStatus:
        return kHasStatus;
      case Fits::kAnswers:
        return present && kHasStatus;
      case Fits::kConstObject:
        return present && kGetsConst;
      case Fits::kWithPaths:
        return present && kHasPaths;
    }
    return false;
  }

  // The fault of this op.
  static inline const Kind* chosen = nullptr;

  // The op with its fault.
  static Result Call(Object* object, Arguments... arguments) {
    Status status = nullptr;
    ((status = status != nullptr ? status : AsStatus(arguments)), ...);
    if (chosen->before != nullptr) chosen->before();
    if (chosen->instead != nullptr) {
      chosen->instead(status);
      return Failed<Result>();
    }
    const After after{object, status};
    if constexpr (std::is_void_v<Result>) {
      Right(object, arguments...);
      if (chosen->writes_text) (Scribble(arguments), ...);
    } else {
      const Result result = Right(object, arguments...);
      if (chosen->writes_text) (Scribble(arguments), ...);
      return result;
    }
  }

  // The op as it should be, on an object that may carry the mark.
  static Result Right(Object* object, Arguments... arguments) {
    const uintptr_t pointer = reinterpret_cast<uintptr_t>(PointerIn(object)) & ~kMark;
    if constexpr (kGetsConst) {
      std::remove_const_t<Object> clean;
      PointerIn(&clean) = reinterpret_cast<void*>(pointer);
      return (TableOf<Ops>(Real()).*Entry)(&clean, arguments...);
    } else {
      PointerIn(object) = reinterpret_cast<void*>(pointer);
      return (TableOf<Ops>(Real()).*Entry)(object, arguments...);
    }
  }

  // What happens when the op has come back.
  struct After {
    Object* object;
    Status status;
    ~After() {
      if (chosen->after != nullptr) chosen->after(status);
      if (!chosen->changes_object) return;
      void*& pointer = PointerIn(object);
      pointer = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(pointer) ^ kMark);
    }
  };
};

// Lets the ops of `tables` bear objects that carry the mark.
struct BearMarks {
  support::Tables& tables;

  template <auto Entry>
  void Op(const char*) {
    if (Faulty<Entry>::Suits(Fits::kPresent)) Set(Entry, Faulty<Entry>::Right);
  }
  template <typename Ops, typename Function>
  void Set(Function Ops::* entry, Function right) {
    TableOf<Ops>(tables).*entry = right;
  }
};

// Adds the faults of one kind.
struct AddFaults {
  const Kind& kind;
  std::vector<Fault>& faults;

  template <auto Entry>
  void Op(const char* op) {
    if (Faulty<Entry>::Suits(kind.fits)) Add(op, Entry, Faulty<Entry>::Call, Faulty<Entry>::chosen);
  }

  template <typename Ops, typename Function>
  void Add(const char* op, Function Ops::* entry, Function faulty, const Kind*& chosen) {
    const Kind* fault = &kind;
    const bool is_null = std::string(kind.name) == "null";
    faults.push_back({std::string(kind.name) + ":" + op, kind.what, kind.breaks,
                      [=, &chosen](support::Tables& tables) {
                        chosen = fault;
                        BearMarks marks{tables};
                        if (fault->changes_object) ForEachOp(marks);
                        TableOf<Ops>(tables).*entry = is_null ? nullptr : faulty;
                      }});
  }
};

}  // namespace

std::vector<Fault> KindFaults() {
  std::vector<Fault> faults;
  for (const Kind& kind : Kinds()) {
    AddFaults add{kind, faults};
    ForEachOp(add);
  }
  return faults;
}

}  // namespace fakes
