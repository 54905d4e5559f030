// The ops of TF_FilesystemOps that take paths.
#include <cstring>
#include <set>

#include "host.h"

namespace tffs {
namespace {

// Nobody reads a longer message, and every log gets it.
constexpr size_t kLongestMessage = size_t{64} << 10;

// A filesystem arrives const in every op but init and cleanup: its pointer must stay.
int64_t WatchWrapper(const Filesystem& filesystem, const void* before) {
  return filesystem.object.plugin_filesystem != before ? kWrapperChanged : 0;
}

int64_t WatchArgument(const Argument& argument) {
  return argument.Changed() ? kArgumentChanged : 0;
}

}  // namespace

Reply Answer(const TF_Status* status, int64_t watch) {
  Reply reply("done");
  reply.Integer(status != nullptr ? TF_GetCode(status) : TF_OK);
  const std::string_view message = status != nullptr ? TF_Message(status) : "";
  const bool whole = message.size() <= kLongestMessage;
  if (whole) {
    reply.Bytes(message);
  } else {
    reply.Bytes(std::string(message.substr(0, kLongestMessage)) + "... (" +
                std::to_string(message.size()) + " bytes)");
  }
  return std::move(reply.Integer(watch | (RetiredStatusChanged() ? kStatusKept : 0) |
                                 (whole ? 0 : kLongMessage) |
                                 (DirectoryMoved() ? kDirectoryMoved : 0)));
}

Filesystem& Host::TakeFilesystem(Request& request) {
  const int64_t number = request.TakeInteger();
  if (number == kRefused && refused_ != nullptr) return *refused_;
  if (number < 0 || static_cast<size_t>(number) >= filesystems_.size())
    throw BadRequest("there is no such filesystem");
  return *filesystems_[static_cast<size_t>(number)];
}

void Host::ReplyString(Reply& reply, char* text) {
  reply.Integer(text == nullptr).Bytes(text != nullptr ? text : "");
  Free(text);
}

Reply Host::Cleanup(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Guarded(filesystem.ops.cleanup)(&filesystem.object);
  if (&filesystem == refused_.get()) refused_.reset();
  return Answer(nullptr);
}

template <typename Object>
Reply Host::Create(Request& request,
                   void (*TF_FilesystemOps::*op)(const TF_Filesystem*, const char*, Object*,
                                                 TF_Status*),
                   void* Object::* field, std::map<int64_t, Open<Object>>& opened) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.*op);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  Object object{};
  function(&filesystem.object, path.get(), &object, status.get());
  const int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path) |
                        (object.*field != nullptr ? kObjectSet : 0);
  int64_t handle = 0;
  if (TF_GetCode(status.get()) == TF_OK) {
    const std::lock_guard lock(handles_);
    handle = ++last_handle_;
    opened.emplace(handle, Open<Object>{&filesystem, object});
  }
  last_opened = handle;
  return std::move(Answer(status.get(), watch).Integer(handle));
}

Reply Host::NewRandomAccessFile(Request& request) {
  return Create(request, &TF_FilesystemOps::new_random_access_file,
                &TF_RandomAccessFile::plugin_file, readers_);
}

Reply Host::NewWritableFile(Request& request) {
  return Create(request, &TF_FilesystemOps::new_writable_file, &TF_WritableFile::plugin_file,
                writers_);
}

Reply Host::NewAppendableFile(Request& request) {
  return Create(request, &TF_FilesystemOps::new_appendable_file, &TF_WritableFile::plugin_file,
                writers_);
}

Reply Host::NewReadOnlyMemoryRegion(Request& request) {
  return Create(request, &TF_FilesystemOps::new_read_only_memory_region_from_file,
                &TF_ReadOnlyMemoryRegion::plugin_memory_region, regions_);
}

template <Host::PathOp op>
Reply Host::ByPath(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.*op);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  function(&filesystem.object, path.get(), status.get());
  return Answer(status.get(), WatchWrapper(filesystem, before) | WatchArgument(path));
}

template Reply Host::ByPath<&TF_FilesystemOps::create_dir>(Request&);
template Reply Host::ByPath<&TF_FilesystemOps::recursively_create_dir>(Request&);
template Reply Host::ByPath<&TF_FilesystemOps::delete_file>(Request&);
template Reply Host::ByPath<&TF_FilesystemOps::delete_dir>(Request&);
template Reply Host::ByPath<&TF_FilesystemOps::path_exists>(Request&);

template <Host::TwoPathOp op>
Reply Host::ByTwoPaths(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument source(request.TakeBytes());
  Argument target(request.TakeBytes());
  const auto function = Present(filesystem.ops.*op);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  function(&filesystem.object, source.get(), target.get(), status.get());
  return Answer(status.get(),
                WatchWrapper(filesystem, before) | WatchArgument(source) | WatchArgument(target));
}

template Reply Host::ByTwoPaths<&TF_FilesystemOps::rename_file>(Request&);
template Reply Host::ByTwoPaths<&TF_FilesystemOps::copy_file>(Request&);

Reply Host::DeleteRecursively(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.delete_recursively);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  auto files = Poisoned<uint64_t>();
  auto dirs = Poisoned<uint64_t>();
  function(&filesystem.object, path.get(), &files, &dirs, status.get());
  const int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path);
  return std::move(Answer(status.get(), watch).Unsigned(files).Unsigned(dirs));
}

Reply Host::PathsExist(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const bool with_statuses = request.TakeInteger() != 0;
  std::vector<std::unique_ptr<Argument>> paths;
  while (!request.AtEnd()) paths.push_back(std::make_unique<Argument>(request.TakeBytes()));
  const auto function = Present(filesystem.ops.paths_exist);
  std::vector<char*> pointers;
  std::vector<StatusPointer> statuses;
  std::vector<TF_Status*> status_pointers;
  for (const auto& path : paths) {
    pointers.push_back(path->get());
    if (!with_statuses) continue;
    statuses.push_back(FreshStatus());
    status_pointers.push_back(statuses.back().get());
  }
  const void* before = filesystem.object.plugin_filesystem;
  // The paths are not const here, so what the plugin does to them is its own affair.
  const bool returned =
      function(&filesystem.object, pointers.data(), static_cast<int>(pointers.size()),
               with_statuses ? status_pointers.data() : nullptr);
  bool replaced = false;
  for (size_t k = 0; k < statuses.size(); ++k)
    replaced = replaced || status_pointers[k] != statuses[k].get();
  const int64_t watch = WatchWrapper(filesystem, before) | (replaced ? kStatusReplaced : 0);
  Reply reply = Answer(nullptr, watch);
  reply.Integer(returned);
  for (const auto& status : statuses)
    reply.Integer(TF_GetCode(status.get())).Bytes(TF_Message(status.get()));
  return reply;
}

Reply Host::Stat(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.stat);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  auto statistics = Poisoned<TF_FileStatistics>();
  function(&filesystem.object, path.get(), &statistics, status.get());
  // Poison is no bool, so the byte must not be read as one.
  uint8_t is_directory;
  std::memcpy(
      &is_directory,
      reinterpret_cast<const char*>(&statistics) + offsetof(TF_FileStatistics, is_directory),
      sizeof is_directory);
  const int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path);
  return std::move(Answer(status.get(), watch)
                       .Integer(statistics.length)
                       .Integer(statistics.mtime_nsec)
                       .Integer(is_directory));
}

Reply Host::IsDirectory(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.is_directory);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  const bool returned = function(&filesystem.object, path.get(), status.get());
  const int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path);
  return std::move(Answer(status.get(), watch).Integer(returned));
}

Reply Host::GetFileSize(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.get_file_size);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  const int64_t returned = function(&filesystem.object, path.get(), status.get());
  const int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path);
  return std::move(Answer(status.get(), watch).Integer(returned));
}

Reply Host::TranslateName(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument uri(request.TakeBytes());
  const auto function = Present(filesystem.ops.translate_name);
  const void* before = filesystem.object.plugin_filesystem;
  char* name = function(&filesystem.object, uri.get());
  Reply reply = Answer(nullptr, WatchWrapper(filesystem, before) | WatchArgument(uri));
  ReplyString(reply, name);
  return reply;
}

template <Host::EntriesOp op>
Reply Host::Entries(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.*op);
  const void* before = filesystem.object.plugin_filesystem;
  const StatusPointer status = FreshStatus();
  char** entries = nullptr;
  const int count = function(&filesystem.object, path.get(), &entries, status.get());
  int64_t watch = WatchWrapper(filesystem, before) | WatchArgument(path) |
                  (entries != nullptr ? kObjectSet : 0);
  // Core takes and frees what is there wherever the count is none of an error, whatever the status
  // says; below 0 the plugin has freed it, and the pointer may be stale.
  std::set<void*> blocks;
  if (count >= 0) blocks.insert(entries);
  std::vector<std::string> names;
  for (int k = 0; k < count && entries != nullptr; ++k) {
    if (entries[k] == nullptr) {
      watch |= kNullEntry;
      continue;
    }
    if (!blocks.insert(entries[k]).second) watch |= kSharedEntries;
    names.emplace_back(entries[k]);
  }
  // As in core: after an error with -1 the plugin has freed the entries itself, and whatever the
  // pointer holds means nothing.
  if (count >= 0)
    for (void* block : blocks) Free(block);
  Reply reply = Answer(status.get(), watch);
  reply.Integer(count);
  for (const std::string& name : names) reply.Bytes(name);
  return reply;
}

template Reply Host::Entries<&TF_FilesystemOps::get_children>(Request&);
template Reply Host::Entries<&TF_FilesystemOps::get_matching_paths>(Request&);

Reply Host::FlushCaches(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const auto function = Present(filesystem.ops.flush_caches);
  const void* before = filesystem.object.plugin_filesystem;
  function(&filesystem.object);
  return Answer(nullptr, WatchWrapper(filesystem, before));
}

}  // namespace tffs
