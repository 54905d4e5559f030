// The table of the filesystem, and the ops that have nothing to do: this plugin keeps no state and
// no caches.

#include "directories.h"
#include "files.h"
#include "listing.h"
#include "queries.h"
#include "rename_copy.h"
#include "support/paths.h"
#include "support/status.h"
#include "tables.h"

namespace posix {
namespace {

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  filesystem->plugin_filesystem = nullptr;
  support::SetOk(status);
}

void Cleanup(TF_Filesystem*) noexcept {}

void FlushCaches(const TF_Filesystem*) noexcept {}

}  // namespace

// Transactions and configuration stay NULL: there are none.
TF_FilesystemOps FilesystemOps() {
  TF_FilesystemOps ops = {};
  ops.init = Init;
  ops.cleanup = Cleanup;
  ops.new_random_access_file = NewRandomAccessFile;
  ops.new_writable_file = NewWritableFile;
  ops.new_appendable_file = NewAppendableFile;
  ops.new_read_only_memory_region_from_file = NewMemoryRegion;
  ops.create_dir = CreateDir;
  ops.recursively_create_dir = RecursivelyCreateDir;
  ops.delete_file = DeleteFile;
  ops.delete_dir = DeleteDir;
  ops.delete_recursively = DeleteRecursively;
  ops.rename_file = RenameFile;
  ops.copy_file = CopyFile;
  ops.path_exists = PathExists;
  ops.paths_exist = PathsExist;
  ops.stat = Stat;
  ops.is_directory = IsDirectory;
  ops.get_file_size = GetFileSize;
  ops.translate_name = support::TranslateName;
  ops.get_children = GetChildren;
  ops.get_matching_paths = GetMatchingPaths;
  ops.flush_caches = FlushCaches;
  return ops;
}

}  // namespace posix
