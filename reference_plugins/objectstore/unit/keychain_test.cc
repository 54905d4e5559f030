// When credentials are replaced. The clock is a number.

#include "keychain.h"

#include <atomic>
#include <thread>
#include <vector>

#include "patience.h"
#include "test.h"

namespace objectstore {
namespace {

// A source that gives k1, k2, ..., each good for `lifetime` seconds; or fails.
struct World {
  std::atomic<double> now{1000};
  std::atomic<int> asked{0};
  std::atomic<bool> fails{false};
  double lifetime = 3600;

  Offer Next() {
    const int number = ++asked;
    if (fails) throw Failure(TF_UNAVAILABLE, "the source is down");
    const double expires = lifetime > 0 ? now + lifetime : 0;
    return {Grant{{"k" + std::to_string(number), "s", "t"}, expires}, ""};
  }

  Keychain Made() {
    Source source = {[this] { return Next(); }, true};
    return Keychain(unit::Somebody(), source, *Next().grant, [this] { return now.load(); });
  }
};

TEST(OldCredentialsServeUntilTheyExpire) {
  World world;
  Keychain keychain = world.Made();
  world.fails = true;
  for (world.now = 1000 + 3600 - 149; world.now < 4599; world.now = world.now + 0.5) {
    EXPECT_EQUAL(keychain.Current()->access_key, "k1");
  }
  // The source was asked now and then, and not with each call.
  EXPECT_EQUAL(world.asked > 5 && world.asked < 60, true);
  world.now = 4600;
  EXPECT_FAILS(keychain.Current(), TF_UNAVAILABLE, "the source is down");
  const int before = world.asked;
  EXPECT_FAILS(keychain.Current(), TF_UNAVAILABLE, "the source is down");
  EXPECT_EQUAL(world.asked - before, 0);
  world.fails = false;
  world.now = 4602;
  EXPECT_EQUAL(keychain.Current()->access_key.substr(0, 1), "k");
  EXPECT_EQUAL(world.asked - before, 1);
}

TEST(ASourceThatHasNothingNewIsLeftAlone) {
  int asked = 0;
  double now = 1000;
  const Source source = {[&] {
                           ++asked;
                           return Offer{Grant{{"same", "s", ""}}, ""};
                         },
                         true};
  Keychain keychain(unit::Somebody(), source, Grant{{"same", "s", ""}}, [&] { return now; });
  const Identity refused = keychain.Current();
  for (int k = 0; k < 10; ++k) EXPECT_EQUAL(keychain.Instead(refused) == refused, true);
  EXPECT_EQUAL(asked, 1);
  now += 2;
  EXPECT_EQUAL(keychain.Instead(refused) == refused, true);
  EXPECT_EQUAL(asked, 2);
}

TEST(CredentialsThatHaveExpiredAreNone) {
  World world;
  world.lifetime = 0.001;
  const Grant late = {{"k", "s", ""}, 999};
  EXPECT_FAILS(Keychain(unit::Somebody(), Source(), late, [&] { return world.now.load(); }),
               TF_UNAUTHENTICATED, "expired");
}

TEST(CredentialsThatTakeLongTakeNothingFromTheOp) {
  const Source source = {[] {
                           Wait(unit::Somebody(), 1, 5, 0, "the source is busy");
                           return Offer{Grant{{"new", "s", ""}}, ""};
                         },
                         true};
  Keychain keychain(unit::Somebody(), source, Grant{{"old", "s", ""}});
  const Op patient;
  EXPECT_EQUAL(keychain.Instead(keychain.Current())->access_key, "new");
  EXPECT_EQUAL(Deadline() == Patience::Clock::time_point::max(), true);
}

TEST(OneThreadRenewsAndTheOthersGoOn) {
  World world;
  world.lifetime = 10;
  Keychain keychain = world.Made();
  std::atomic<bool> wrong{false};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&, k] {
      while (!stop) {
        try {
          const Identity identity = keychain.Current();
          if (identity->secret_key != "s") wrong = true;
          if (k % 4 == 0 && keychain.Instead(identity) == identity) wrong = true;
        } catch (const Failure&) {
          // The clock ran past what the source gave just now.
        }
      }
    });
  }
  // So long that each thread had its turn, or could have had it.
  for (int k = 0; k < 200 || (world.asked == 1 && k < 10000000); ++k) {
    world.now = world.now + 1;
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQUAL(wrong.load(), false);
  EXPECT_EQUAL(world.asked > 1, true);
}

}  // namespace
}  // namespace objectstore
