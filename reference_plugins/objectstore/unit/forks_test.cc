// A file that is written when its process forks.

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "child.h"
#include "ops.h"
#include "table.h"
#include "test.h"

namespace objectstore {
namespace {

// Starts a thread, and waits until nothing is left of it: a sanitizer keeps one of its own from
// then on.
void HaveHadAThread() {
  pid_t id = 0;
  std::thread([&id] { id = gettid(); }).join();
  const std::string task = "/proc/self/task/" + std::to_string(id);
  while (std::filesystem::exists(task)) std::this_thread::yield();
}

// What a writer appends, before its process forks and after.
void Try(const std::string& half) {
  const std::string uri = unit::TableUnderTest().scheme + "://bucket/forks.bin";
  const char* path = uri.c_str();
  const TF_FilesystemOps ops = unit::Configured();
  const TF_WritableFileOps file_ops = WritableFileOps();
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem = {};
  TF_WritableFile file = {};
  const auto code_of = [&](const auto& op) {
    op();
    return TF_GetCode(status);
  };
  const auto append = [&] { file_ops.append(&file, half.data(), half.size(), status); };
  const auto look = [&] { ops.path_exists(&filesystem, path, status); };
  EXPECT_EQUAL(code_of([&] { ops.init(&filesystem, status); }), TF_OK);
  HaveHadAThread();
  const auto threads = unit::Threads();
  EXPECT_EQUAL(code_of([&] { ops.new_writable_file(&filesystem, path, &file, status); }), TF_OK);
  EXPECT_EQUAL(code_of(append), TF_OK);
  // A sanitizer does not let a process fork while its threads take memory.
  while (unit::Threads() > threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const pid_t drops = fork();
  if (drops == 0) {
    file_ops.cleanup(&file);
    unit::EndChild(code_of(look) == TF_NOT_FOUND);
  }
  EXPECT_EQUAL(unit::HeldIn(drops), true);
  const pid_t appends = fork();
  if (appends == 0) {
    const bool is_refused =
        code_of(append) == TF_FAILED_PRECONDITION &&
        code_of([&] { file_ops.sync(&file, status); }) == TF_FAILED_PRECONDITION &&
        code_of([&] { file_ops.close(&file, status); }) == TF_FAILED_PRECONDITION;
    unit::EndChild(is_refused && code_of(look) == TF_NOT_FOUND);
  }
  EXPECT_EQUAL(unit::HeldIn(appends), true);
  EXPECT_EQUAL(code_of(append), TF_OK);
  EXPECT_EQUAL(code_of([&] { file_ops.close(&file, status); }), TF_OK);
  file_ops.cleanup(&file);
  EXPECT_EQUAL(ops.get_file_size(&filesystem, path, status), static_cast<int64_t>(2 * half.size()));
  EXPECT_EQUAL(code_of([&] { ops.delete_file(&filesystem, path, status); }), TF_OK);
  ops.cleanup(&filesystem);
  TF_DeleteStatus(status);
}

TEST(AFileThatIsWrittenStaysWithItsProcess) { Try("half"); }

TEST(AFileThatGoesUpStaysWithItsProcess) { Try(std::string(65 << 20, 'h')); }

}  // namespace
}  // namespace objectstore
