// Clocks and threads.
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tf_filesystem_plugin.h"

namespace {

template <typename Unit>
uint64_t Now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<Unit>(since_epoch).count());
}

struct Work {
  void (*function)(void*);
  void* parameter;
};

void* Run(void* argument) {
  const Work work = *static_cast<Work*>(argument);
  delete static_cast<Work*>(argument);
  work.function(work.parameter);
  return nullptr;
}

}  // namespace

struct TF_Thread {
  pthread_t thread;
};

uint64_t TF_NowNanos(void) { return Now<std::chrono::nanoseconds>(); }
uint64_t TF_NowMicros(void) { return Now<std::chrono::microseconds>(); }
uint64_t TF_NowSeconds(void) { return Now<std::chrono::seconds>(); }

void TF_DefaultThreadOptions(TF_ThreadOptions* options) { *options = {0, 0, -1}; }

TF_Thread* TF_StartThread(const TF_ThreadOptions* options, const char* name, void (*work)(void*),
                          void* parameter) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (options->stack_size != 0) pthread_attr_setstacksize(&attributes, options->stack_size);
  if (options->guard_size != 0) pthread_attr_setguardsize(&attributes, options->guard_size);
  auto* thread = new TF_Thread;
  auto* wrapped = new Work{work, parameter};
  const int error = pthread_create(&thread->thread, &attributes, Run, wrapped);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    TF_Log(TF_FATAL, "no thread could be started: %s", std::strerror(error));
    std::abort();
  }
  // The kernel keeps 15 characters of a name.
  if (name != nullptr) pthread_setname_np(thread->thread, std::string(name).substr(0, 15).c_str());
  return thread;
}

void TF_JoinThread(TF_Thread* thread) {
  pthread_join(thread->thread, nullptr);
  delete thread;
}
