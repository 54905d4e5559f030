// The table of the filesystem. Every entry is there.

#include "filesystem.h"

#include "ops.h"
#include "support/paths.h"

namespace memory {
namespace {

void Init(TF_Filesystem* filesystem, TF_Status* status) noexcept {
  support::Guarded(status, kScheme, [&] {
    filesystem->plugin_filesystem = new Filesystem;
    support::SetOk(status);
  });
}

// Transactions that were not ended go with what they staged. Files and regions live on.
void Cleanup(TF_Filesystem* filesystem) noexcept {
  delete &Get(filesystem);
  filesystem->plugin_filesystem = nullptr;
}

// There is no store but this one, so there are no caches.
void FlushCaches(const TF_Filesystem*) noexcept {}

}  // namespace

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
  ops.start_transaction = StartTransaction;
  ops.end_transaction = EndTransaction;
  ops.add_to_transaction = AddToTransaction;
  ops.get_transaction_for_path = GetTransactionForPath;
  ops.get_or_start_transaction_for_path = GetOrStartTransactionForPath;
  ops.decode_transaction_token = DecodeTransactionToken;
  ops.get_filesystem_configuration = GetConfiguration;
  ops.set_filesystem_configuration = SetConfiguration;
  ops.get_filesystem_configuration_option = GetOption;
  ops.set_filesystem_configuration_option = SetOption;
  ops.get_filesystem_configuration_keys = GetKeys;
  return ops;
}

}  // namespace memory
