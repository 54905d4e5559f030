// The table of the filesystem, its beginning and its end. Content is in fetching.cc.

#include "filesystem.h"

#include "digest.h"
#include "failure.h"
#include "log.h"
#include "ops.h"

namespace objectstore {
namespace {

using Shared = std::shared_ptr<Filesystem>;

void Cleanup(TF_Filesystem* filesystem) noexcept {
  delete static_cast<Shared*>(filesystem->plugin_filesystem);
  filesystem->plugin_filesystem = nullptr;
}

void FlushCaches(const TF_Filesystem* filesystem) noexcept {
  const auto state = Get(filesystem);
  state->cache.Clear();
  state->metadata.Clear();
  state->streams.Clear();
}

char* TranslateName(const TF_Filesystem* filesystem, const char* uri) noexcept {
  return TranslatedName(Get(filesystem)->config.plugin, uri);
}

}  // namespace

void Begin(TF_Filesystem* filesystem, TF_Status* status, const Plugin& plugin,
           const std::function<std::shared_ptr<Filesystem>()>& make) noexcept {
  Perform(status, plugin.scheme, [&] {
    Sha256("");  // a missing libcrypto is told now, and not when the first request is signed
    if (!HasMd5()) {
      static Event no_md5;
      no_md5.Tell(plugin, TF_WARNING,
                  "libcrypto has no MD5: what the store has no other checksum of is not compared");
    }
    filesystem->plugin_filesystem = new Shared(make());
  });
}

// Transactions stay NULL, and what sets options: there are none but the counters of a plugin.
TF_FilesystemOps FilesystemOps() {
  TF_FilesystemOps ops = {};
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
  ops.translate_name = TranslateName;
  ops.get_children = GetChildren;
  ops.get_matching_paths = GetMatchingPaths;
  ops.flush_caches = FlushCaches;
  return ops;
}

}  // namespace objectstore
