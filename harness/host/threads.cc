// Programs of ops: several at the same time, or one again and again.
#include <atomic>
#include <chrono>
#include <future>
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
