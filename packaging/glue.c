/* Linked into all C++ that the release toolchain (zig.cmake) links.
 *
 * Unwinding. zig would put an unwinder of its own into every file. An exception that a plugin
 * throws through the host passes frames of both; their unwinders know nothing of each other's
 * contexts, and the process crashes. So all use the one that the system has, and that g++ and clang
 * make plugins for: libgcc_s.so.1. It is looked for when something is thrown first, so a machine
 * without it runs everything else. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

static void* Find(const char* name) {
  void* library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  void* found = library == NULL ? NULL : dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "an exception was thrown, and libgcc_s.so.1 is not there: %s\n", dlerror());
    abort();
  }
  return found;
}

/* `name` of libgcc_s. Two threads may both find it: they find the same. */
#define FORWARD(result, name, parameters, arguments)         \
  HIDDEN result name parameters {                            \
    static void* known;                                      \
    void* found = __atomic_load_n(&known, __ATOMIC_ACQUIRE); \
    if (found == NULL) {                                     \
      found = Find(#name);                                   \
      __atomic_store_n(&known, found, __ATOMIC_RELEASE);     \
    }                                                        \
    return ((result(*) parameters)found)arguments;           \
  }

typedef struct Context Context;
typedef struct Exception Exception;

FORWARD(int, _Unwind_RaiseException, (Exception * exception), (exception))
FORWARD(void, _Unwind_Resume, (Exception * exception), (exception))
FORWARD(void, _Unwind_DeleteException, (Exception * exception), (exception))
FORWARD(uintptr_t, _Unwind_GetIP, (Context * context), (context))
FORWARD(void, _Unwind_SetIP, (Context * context, uintptr_t value), (context, value))
FORWARD(void, _Unwind_SetGR, (Context * context, int index, uintptr_t value),
        (context, index, value))
FORWARD(uintptr_t, _Unwind_GetLanguageSpecificData, (Context * context), (context))
FORWARD(uintptr_t, _Unwind_GetRegionStart, (Context * context), (context))

/* pthread_exit and pthread_cancel unwind, too. libc++ would let `catch (...)` stop them, upon which
 * glibc ends the process. They pass, and the frames of ours that they pass clean up nothing. */
enum { kForceUnwind = 8, kContinueUnwind = 8 };
int __real___gxx_personality_v0(int version, int actions, uint64_t kind, Exception* exception,
                                Context* context);
HIDDEN int __wrap___gxx_personality_v0(int version, int actions, uint64_t kind,
                                       Exception* exception, Context* context) {
  if ((actions & kForceUnwind) != 0) return kContinueUnwind;
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}

/* What the host calls and glibc 2.28 lacks. Its counters are of 32 bits. */
HIDDEN struct mallinfo2 mallinfo2(void) {
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo();
  struct mallinfo2 wide = {
      (unsigned)old.arena,    (unsigned)old.ordblks,  (unsigned)old.smblks,  (unsigned)old.hblks,
      (unsigned)old.hblkhd,   (unsigned)old.usmblks,  (unsigned)old.fsmblks, (unsigned)old.uordblks,
      (unsigned)old.fordblks, (unsigned)old.keepcost,
  };
  return wide;
}

HIDDEN pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

HIDDEN const char* sigabbrev_np(int number) {
  switch (number) {
    case SIGSEGV:
      return "SEGV";
    case SIGBUS:
      return "BUS";
    case SIGFPE:
      return "FPE";
    case SIGILL:
      return "ILL";
    case SIGABRT:
      return "ABRT";
    case SIGSYS:
      return "SYS";
    default:
      return NULL;
  }
}
