// All ops at once, by many threads, through the tables, against a store, and a proxy where the
// plugin has one: so that sanitizers see all of the plugin, libcurl's part included.

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "curl.h"
#include "digest.h"
#include "ops.h"
#include "test.h"

namespace objectstore {
namespace {

const std::string kDirectory = unit::TableUnderTest().scheme + "://bucket/threads";
constexpr int kThreads = 8;
constexpr int kLarge = 2;  // so many of them write large files

// A filesystem, and what went wrong in one thread's use of it.
class User {
 public:
  User(const TF_Filesystem* filesystem, int number)
      : filesystem_(filesystem),
        is_large_(number < kLarge),
        own_(kDirectory + "/own-" + std::to_string(number)) {}
  ~User() { TF_DeleteStatus(status_); }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  void Work(const std::string& shared) {
    const std::string large(65 << 20, 'l');  // it goes up in parts
    for (int round = 0; round < 3; ++round) {
      Write(own_, std::string(1000, static_cast<char>('a' + round)));
      Read(own_, std::string(1000, static_cast<char>('a' + round)));
      Read(shared, std::string(100000, 's'));
      TF_FileStatistics statistics;
      Do("stat", ops_.stat, filesystem_, own_.c_str(), &statistics);
      std::string paths[] = {own_, shared, kDirectory};
      char* all[] = {paths[0].data(), paths[1].data(), paths[2].data()};
      if (!ops_.paths_exist(filesystem_, all, 3, nullptr)) wrong_ += "paths_exist; ";
      const std::string below = own_ + "-d/a/b";
      Do("recursively_create_dir", ops_.recursively_create_dir, filesystem_, below.c_str());
      char** entries = nullptr;
      const int count = ops_.get_children(filesystem_, kDirectory.c_str(), &entries, status_);
      Demand("get_children");
      for (int k = 0; k < count; ++k) std::free(entries[k]);
      std::free(entries);
      if (round == 1) ops_.flush_caches(filesystem_);
      if (round == 1 && is_large_) Write(own_ + ".large", large);
    }
    Do("delete_file", ops_.delete_file, filesystem_, own_.c_str());
  }

  void Write(const std::string& path, const std::string& content) {
    const TF_WritableFileOps ops = WritableFileOps();
    TF_WritableFile file = {};
    Do("new_writable_file", ops_.new_writable_file, filesystem_, path.c_str(), &file);
    if (file.plugin_file == nullptr) return;
    Do("append", ops.append, &file, content.data(), content.size());
    Do("close", ops.close, &file);
    ops.cleanup(&file);
  }

  void Read(const std::string& path, const std::string& expected) {
    const TF_RandomAccessFileOps ops = RandomAccessFileOps();
    TF_RandomAccessFile file = {};
    Do("new_random_access_file", ops_.new_random_access_file, filesystem_, path.c_str(), &file);
    if (file.plugin_file == nullptr) return;
    std::string got(expected.size(), ' ');
    Do("read", ops.read, &file, uint64_t{0}, got.size(), got.data());
    ops.cleanup(&file);
    if (got != expected) wrong_ += "other bytes; ";
  }

  const std::string& wrong() const { return wrong_; }

 private:
  template <typename Op, typename... Arguments>
  void Do(const char* name, Op* op, Arguments... arguments) {
    op(arguments..., status_);
    Demand(name);
  }

  void Demand(const char* op) {
    if (TF_GetCode(status_) != TF_OK) wrong_ += std::string(op) + ": " + TF_Message(status_) + "; ";
  }

  const TF_FilesystemOps ops_ = unit::TableUnderTest().ops;
  const TF_Filesystem* filesystem_;
  const bool is_large_;
  TF_Status* status_ = TF_NewStatus();
  const std::string own_;
  std::string wrong_;
};

TEST(ManyThreadsUseOneFilesystem) {
  const TF_FilesystemOps ops = unit::TableUnderTest().ops;
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem = {};
  const auto entries = [](const char* folder) {
    const std::filesystem::directory_iterator all(folder);
    return std::distance(begin(all), end(all));
  };
  curl();  // libcurl and libcrypto stay open
  Sha256("");
  std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one
  const auto threads_before = entries("/proc/self/task");
  const auto descriptors_before = entries("/proc/self/fd");
  ops.init(&filesystem, status);
  EXPECT_EQUAL(std::string(TF_Message(status)), "");
  if (TF_GetCode(status) == TF_OK) {
    const std::string shared = kDirectory + "/shared";
    User(&filesystem, 0).Write(shared, std::string(100000, 's'));
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(kThreads);
    for (int k = 0; k < kThreads; ++k) {
      threads.emplace_back([&, k] {
        User user(&filesystem, k);
        user.Work(shared);
        wrong[static_cast<size_t>(k)] = user.wrong();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : wrong) EXPECT_EQUAL(text, "");
    uint64_t files = 1;
    uint64_t directories = 1;
    ops.delete_recursively(&filesystem, kDirectory.c_str(), &files, &directories, status);
    EXPECT_EQUAL(std::string(TF_Message(status)), "");
    EXPECT_EQUAL(files + directories, uint64_t{0});
    ops.cleanup(&filesystem);
    // The system takes its time to take away a thread that was waited for.
    for (int k = 0; k < 10000 && entries("/proc/self/task") != threads_before; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQUAL(entries("/proc/self/task"), threads_before);
    EXPECT_EQUAL(entries("/proc/self/fd"), descriptors_before);
  }
  TF_DeleteStatus(status);
}

}  // namespace
}  // namespace objectstore
