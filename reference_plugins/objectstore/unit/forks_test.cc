// A file that is written when its process forks. DRAGONFLY_UNIT_CONFIG names a configuration, whose
// store has a bucket called `bucket`; tests/test_dragonfly_unit.py sets it.

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "child.h"
#include "ops.h"
#include "test.h"

namespace dragonfly {
namespace {

constexpr char kPath[] = "dragonfly://bucket/forks";

TEST(AFileThatIsWrittenStaysWithItsProcess) {
  const char* config = std::getenv("DRAGONFLY_UNIT_CONFIG");
  if (config == nullptr) throw std::runtime_error("DRAGONFLY_UNIT_CONFIG is not set");
  setenv("DRAGONFLY_CONFIG_PATH", config, 1);
  const TF_FilesystemOps ops = FilesystemOps();
  const TF_WritableFileOps file_ops = WritableFileOps();
  TF_Status* status = TF_NewStatus();
  TF_Filesystem filesystem = {};
  TF_WritableFile file = {};
  const auto code_of = [&](const auto& op) {
    op();
    return TF_GetCode(status);
  };
  const auto append = [&] { file_ops.append(&file, "half", 4, status); };
  const auto look = [&] { ops.path_exists(&filesystem, kPath, status); };
  EXPECT_EQUAL(code_of([&] { ops.init(&filesystem, status); }), TF_OK);
  EXPECT_EQUAL(code_of([&] { ops.new_writable_file(&filesystem, kPath, &file, status); }), TF_OK);
  EXPECT_EQUAL(code_of(append), TF_OK);
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
  EXPECT_EQUAL(ops.get_file_size(&filesystem, kPath, status), int64_t{8});
  EXPECT_EQUAL(code_of([&] { ops.delete_file(&filesystem, kPath, status); }), TF_OK);
  ops.cleanup(&filesystem);
  TF_DeleteStatus(status);
}

}  // namespace
}  // namespace dragonfly
