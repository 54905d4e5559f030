// Programs of ops: several at the same time, one again and again, or some until the process ends.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iterator>
#include <system_error>
#include <thread>

#include "crash.h"
#include "host.h"

namespace tffs {
namespace {

// Stands for the code of an op that gave none.
constexpr int64_t kNotPerformed = -1;

// One op of a program, taken apart before the threads start.
struct Step {
  const char* command;
  Request arguments;
};

// One op as it went; times in nanoseconds of the monotonic clock.
struct Ran {
  Reply reply{"lost"};  // of an op whose thread did not come back
  int64_t start = 0;
  int64_t end = 0;
  int64_t code = kNotPerformed;
};

// Where threads wait for each other, awake at first: one that is woken is late by more than an op
// takes, and ops would follow each other instead of meeting. To yield instead would leave all
// threads on one processor, and where others use it makes each turn as long as theirs.
class Barrier {
 public:
  explicit Barrier(size_t threads) : threads_(threads) {}

  void Wait() {
    constexpr int64_t kAwake = 30'000;  // nanoseconds
    constexpr std::chrono::microseconds kAsleep(50);
    const unsigned round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      return;
    }
    const int64_t since = Now();
    while (round_ == round)
      if (Now() - since > kAwake) std::this_thread::sleep_for(kAsleep);
  }

 private:
  const size_t threads_;
  std::atomic<size_t> arrived_ = 0;
  std::atomic<unsigned> round_ = 0;
};

using Program = std::vector<Step>;

// The programs of all threads; they point into the request.
std::vector<Program> TakePrograms(Request& request) {
  std::vector<Program> programs;
  while (!request.AtEnd()) {
    programs.emplace_back();
    for (int64_t left = request.TakeInteger(); left > 0; --left) {
      Request single(request.TakeBytes());
      const std::string_view command = single.TakeBytes();
      programs.back().push_back({Host::NameOf(command), single});
    }
  }
  return programs;
}

int64_t CodeOf(const Reply& reply) {
  Request answer(reply.Body());
  return answer.TakeBytes() == "done" ? answer.TakeInteger() : kNotPerformed;
}

// Performs the ops of one round; `running` says to others which it is at.
void PerformRound(Host& host, const Program& program, std::atomic<const char*>& running, Told told,
                  Ran* ran) {
  opened_in_round.clear();
  for (const Step& step : program) {
    Request arguments = step.arguments;
    last_opened = 0;
    running = step.command;
    stopwatch = {told == Told::kTimes};
    ran->start = Now();
    Reply reply = host.PerformGuarded(step.command, arguments);
    ran->end = Now();
    running = nullptr;
    if (told == Told::kTimes) {
      // What the plugin read is not kept, however much it is.
      ran->code = CodeOf(reply);
      ran->start = stopwatch.start;
      ran->end = stopwatch.end;
      stopwatch = {};
    } else {
      ran->reply = std::move(reply);
    }
    opened_in_round.push_back(last_opened);
    ++ran;
  }
}

// What threads are busy with until the process ends. Nothing destroys it, for they use it then.
struct Busy {
  std::string body;  // the programs point into it
  std::vector<Program> programs;
  int64_t patience;  // nanoseconds
  // How often each program was performed, and how often each op of it answered OK.
  std::atomic<int64_t> rounds[kMostThreads] = {};
  std::atomic<int64_t> right[kMostThreads] = {};

  void Perform(Host& host, size_t thread) {
    const CrashStack room_for_last_words;
    const Program& program = programs[thread];
    std::vector<Ran> went(program.size());
    while (true) {
      PerformRound(host, program, ops_of_threads[thread], Told::kAnswers, went.data());
      const bool all = std::all_of(went.begin(), went.end(),
                                   [](const Ran& ran) { return CodeOf(ran.reply) == TF_OK; });
      right[thread] += all;
      ++rounds[thread];
    }
  }

  void AwaitRounds(size_t thread, int64_t count, int64_t until = INT64_MAX) const {
    constexpr std::chrono::microseconds kAsleep(50);
    while (rounds[thread] < count && Now() < until) std::this_thread::sleep_for(kAsleep);
  }
};
Busy* busy = nullptr;

void AddTo(Reply& reply, Told told, const std::vector<Ran>& went) {
  for (const Ran& one : went) {
    reply.Integer(one.start).Integer(one.end);
    told == Told::kTimes ? reply.Integer(one.code) : reply.Bytes(one.reply.Body());
  }
}

}  // namespace

Reply Host::Threads(Request& request) { return Together(request, Told::kAnswers); }

Reply Host::Measure(Request& request) { return Together(request, Told::kTimes); }

Reply Host::Together(Request& request, Told told) {
  const int64_t rounds = request.TakeInteger();
  const std::vector<Program> programs = TakePrograms(request);
  if (programs.empty() || programs.size() > kMostThreads || rounds < 0)
    throw BadRequest("there is nothing for threads to do, or there are too many");
  std::vector<std::vector<Ran>> went(programs.size());
  Barrier barrier(programs.size());
  std::promise<bool> all_there;
  const std::shared_future<bool> start = all_there.get_future().share();
  const auto run = [&](size_t thread) {
    const CrashStack room_for_last_words;
    const Program& program = programs[thread];
    went[thread].resize(program.size() * static_cast<size_t>(rounds));
    opened_in_round.reserve(program.size());
    if (!start.get()) return;
    Ran* ran = went[thread].data();
    for (int64_t round = 0; round < rounds; ++round) {
      barrier.Wait();
      PerformRound(*this, program, ops_of_threads[thread], told, ran);
      ran += program.size();
    }
  };
  std::vector<std::thread> threads;
  bool complete = true;
  try {
    for (size_t thread = 0; thread < programs.size(); ++thread) threads.emplace_back(run, thread);
  } catch (const std::system_error&) {
    complete = false;
  }
  all_there.set_value(complete);
  for (std::thread& thread : threads) thread.join();
  if (!complete) throw Lacking("there are no more threads to be had");
  Reply reply("done");
  for (const std::vector<Ran>& ran : went) AddTo(reply, told, ran);
  return reply;
}

Reply Host::KeepBusy(Request& request) {
  const int64_t seconds = request.TakeInteger();
  const int64_t rounds = request.TakeInteger();
  busy = new Busy{std::string(request.Rest()), {}, seconds * 1'000'000'000};
  Request own(busy->body);
  busy->programs = TakePrograms(own);
  const size_t count = busy->programs.size();
  if (count > kMostThreads) throw BadRequest("there are too many threads");
  try {
    for (size_t thread = 0; thread < count; ++thread)
      std::thread(&Busy::Perform, busy, std::ref(*this), thread).detach();
  } catch (const std::system_error&) {
    throw Lacking("there are no more threads to be had");
  }
  // Who ends a process that hangs here is told of their ops.
  running_op = "threads";
  for (size_t thread = 0; thread < count; ++thread) busy->AwaitRounds(thread, rounds);
  Reply reply("done");
  for (size_t thread = 0; thread < count; ++thread) reply.Integer(busy->right[thread]);
  return reply;
}

void AwaitBusyThreads() {
  if (busy == nullptr) return;
  int64_t now[kMostThreads];
  std::copy(std::begin(busy->rounds), std::end(busy->rounds), now);
  const int64_t until = Now() + busy->patience;
  // The round that is going on may have been nearly over.
  for (size_t thread = 0; thread < busy->programs.size(); ++thread)
    busy->AwaitRounds(thread, now[thread] + 2, until);
}

Reply Host::Repeat(Request& request) {
  const int64_t rounds = request.TakeInteger();
  const std::vector<Program> programs = TakePrograms(request);
  if (programs.size() != 1 || rounds < 1) throw BadRequest("there is not one program to repeat");
  std::vector<Ran> went(programs[0].size());
  for (int64_t round = 0; round < rounds; ++round)
    PerformRound(*this, programs[0], ops_of_threads[0], Told::kAnswers, went.data());
  // Nothing of it stays: what the process holds afterwards is the plugin's.
  opened_in_round = {};
  Reply reply("done");
  AddTo(reply, Told::kAnswers, went);
  return reply;
}

}  // namespace tffs
