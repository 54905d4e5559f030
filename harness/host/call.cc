#include "call.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "allocations.h"
#include "crash.h"
#include "interrupts.h"

namespace tffs {
namespace {

// One call of the plugin: where it returns to, and what came out of it.
struct Call {
  jmp_buf back;
  _Unwind_Exception* exception = nullptr;
};

thread_local Call* running = nullptr;

// What follows are parts of the C++ ABI for Itanium, which all C++ libraries of Linux share. The
// host's own library cannot be asked: the exception may belong to another one.
struct TypeInfo {
  const void* const* vtable;
  const char* name;
};

struct SingleBase : TypeInfo {
  const TypeInfo* base;
};

struct Base {
  const TypeInfo* type;
  intptr_t offset_and_flags;
};

struct SeveralBases : TypeInfo {
  unsigned flags;
  unsigned count;
  Base bases[1];
};

// What stands right before the unwinder's part of an exception.
struct Header {
  const TypeInfo* type;  // the object of another exception, where this one rethrows it
  void (*destructor)(void*);
  void (*unexpected)();
  void (*terminate)();
  Header* next;
  int handlers;
  int handler_switch;
  const unsigned char* actions;
  const unsigned char* language_data;
  void* landing_pad;
  void* adjusted;
};

const char* NameOf(const TypeInfo* type) { return type->name + (*type->name == '*'); }

std::string_view SymbolAt(const void* address) {
  Dl_info found;
  return dladdr(address, &found) != 0 && found.dli_sname != nullptr ? found.dli_sname : "";
}

// The std::exception that an object of this type is, nullptr where it is none.
const char* AsException(const TypeInfo* type, const char* object) {
  constexpr intptr_t kVirtual = 1;
  constexpr intptr_t kPublic = 2;
  constexpr int kOffsetShift = 8;
  if (std::strcmp(NameOf(type), "St9exception") == 0) return object;
  const std::string_view kind = SymbolAt(type->vtable);
  if (kind == "_ZTVN10__cxxabiv120__si_class_type_infoE")
    return AsException(static_cast<const SingleBase*>(type)->base, object);
  if (kind != "_ZTVN10__cxxabiv121__vmi_class_type_infoE") return nullptr;
  const auto* several = static_cast<const SeveralBases*>(type);
  for (unsigned k = 0; k < several->count; ++k) {
    const Base& base = several->bases[k];
    if ((base.offset_and_flags & kPublic) == 0) continue;
    intptr_t offset = base.offset_and_flags >> kOffsetShift;
    if ((base.offset_and_flags & kVirtual) != 0)
      std::memcpy(&offset, *reinterpret_cast<const char* const*>(object) + offset, sizeof offset);
    if (const char* found = AsException(base.type, object + offset)) return found;
  }
  return nullptr;
}

std::string Demangled(const char* name) {
  int status;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string demangled = text != nullptr ? text : name;
  std::free(text);
  return demangled;
}

const char* WhatOf(const char* exception) {
  // After the two destructors.
  constexpr size_t kWhat = 2;
  using What = const char* (*)(const void*);
  const What* vtable;
  std::memcpy(&vtable, exception, sizeof vtable);
  return vtable[kWhat](exception);
}

Thrown Describe(_Unwind_Exception* exception) {
  // "GNUCC++\0" or "CLNGC++\0", and 1 instead of 0 for what rethrows another one.
  constexpr uint64_t kLanguage = 0xffffff00;
  constexpr uint64_t kCPlusPlus = 0x432b2b00;
  uint64_t kind;
  static_assert(sizeof kind == sizeof exception->exception_class);
  std::memcpy(&kind, &exception->exception_class, sizeof kind);
  if ((kind & kLanguage) != kCPlusPlus) return {"?", ""};
  const auto* header = reinterpret_cast<const Header*>(exception) - 1;
  const char* object = reinterpret_cast<const char*>(exception + 1);
  if ((kind & 0xff) != 0) {
    object = reinterpret_cast<const char*>(header->type);
    header = reinterpret_cast<const Header*>(object - sizeof(_Unwind_Exception)) - 1;
  }
  const char* standard = AsException(header->type, object);
  return {Demangled(NameOf(header->type)), standard != nullptr ? WhatOf(standard) : ""};
}

// Catches and drops the exception, as its own library does where that can be found.
void Drop(_Unwind_Exception* exception) {
  Dl_info owner;
  void* library = nullptr;
  if (exception->exception_cleanup != nullptr &&
      dladdr(reinterpret_cast<void*>(exception->exception_cleanup), &owner) != 0)
    library = dlopen(owner.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* begin = library != nullptr ? dlsym(library, "__cxa_begin_catch") : nullptr;
  void* end = library != nullptr ? dlsym(library, "__cxa_end_catch") : nullptr;
  if (begin != nullptr && end != nullptr) {
    reinterpret_cast<void* (*)(void*)>(begin)(exception);
    reinterpret_cast<void (*)()>(end)();
  } else {
    _Unwind_DeleteException(exception);
  }
  if (library != nullptr) dlclose(library);
}

}  // namespace
}  // namespace tffs

// Called by whatever unwinder the plugin has. In the first phase it promises a handler. In the
// second, when all of the plugin's frames have been cleaned up, it leaves the unwinder for good, as
// the C library does at the end of a thread that is cancelled.
extern "C" __attribute__((used, visibility("hidden"))) _Unwind_Reason_Code
tffs_personality(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception,
                 _Unwind_Context*) {
  // pthread_exit, or a cancellation. The thread belongs to the host, as it would belong to
  // TensorFlow, and there is no way back into it.
  if ((actions & _UA_FORCE_UNWIND) != 0) {
    tffs::SayLast("lost the thread");
    _exit(EXIT_FAILURE);
  }
  if ((actions & _UA_SEARCH_PHASE) != 0) return _URC_HANDLER_FOUND;
  tffs::Call* call = tffs::running;
  call->exception = exception;
  longjmp(call->back, 1);
}

namespace tffs {
namespace {

// The frame at which exceptions of the plugin end. Nothing in it has a destructor, so that the
// compiler gives it no personality of its own.
#ifdef __clang__
__attribute__((noinline, no_sanitize("thread", "address", "undefined")))
#else
__attribute__((noipa, no_sanitize("thread", "address", "undefined")))
#endif
bool Returned(void (*body)(void*), void* context, Call* call) {
  asm volatile(".cfi_personality 0x1b, tffs_personality");
  if (setjmp(call->back) != 0) return false;
  body(context);
  return true;
}

}  // namespace

int64_t Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

void RunGuarded(void (*body)(void*), void* context) {
  Call call;
  Call* const outer = running;
  running = &call;
  const bool timed = std::exchange(stopwatch.armed, false);
  if (timed) stopwatch.start = Now();
  bool returned;
  {
    const Interrupted by_signals;
    const Counted allocations;
    returned = Returned(body, context, &call);
  }
  if (timed) stopwatch.end = Now();
  running = outer;
  if (returned) return;
  Thrown thrown = Describe(call.exception);
  Drop(call.exception);
  throw thrown;
}

}  // namespace tffs
