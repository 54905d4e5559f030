// Programs of ops that several threads perform at the same time.
#include <pthread.h>
#include <time.h>

#include <thread>
#include <utility>

#include "host.h"

namespace tffs {
namespace {

// One op as it went; times in nanoseconds of the monotonic clock.
struct Ran {
  Reply reply{"absent"};
  int64_t start = 0;
  int64_t end = 0;
};

int64_t Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

class Barrier {
 public:
  explicit Barrier(size_t threads) {
    pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads));
  }
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  void Wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace

Reply Host::Threads(Request& request) {
  const int64_t rounds = request.TakeInteger();
  std::vector<std::vector<std::string>> programs;
  while (!request.AtEnd()) {
    programs.emplace_back();
    for (int64_t left = request.TakeInteger(); left > 0; --left)
      programs.back().emplace_back(request.TakeBytes());
  }
  if (programs.empty() || rounds < 0) throw BadRequest("there is nothing for threads to do");
  std::vector<std::vector<Ran>> went(programs.size());
  Barrier barrier(programs.size());
  const auto run = [&](size_t thread) {
    const std::vector<std::string>& program = programs[thread];
    std::vector<Ran>& ran = went[thread];
    ran.resize(program.size() * static_cast<size_t>(rounds));
    auto next = ran.begin();
    for (int64_t round = 0; round < rounds; ++round) {
      opened_in_round.clear();
      barrier.Wait();
      for (const std::string& op : program) {
        Request single(op);
        const std::string_view command = single.TakeBytes();
        last_opened = 0;
        next->start = Now();
        next->reply = PerformGuarded(command, single);
        next->end = Now();
        opened_in_round.push_back(last_opened);
        ++next;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < programs.size(); ++thread) threads.emplace_back(run, thread);
  for (std::thread& thread : threads) thread.join();
  Reply reply("done");
  for (std::vector<Ran>& ran : went)
    for (Ran& one : ran) reply.Integer(one.start).Integer(one.end).Bytes(one.reply.Body());
  return reply;
}

}  // namespace tffs
