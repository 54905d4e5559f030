// Registration, in the order and with the codes of TensorFlow's modular_filesystem_registration.cc.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "host.h"

namespace tffs {
namespace {

struct Failure {
  TF_Code code;
  std::string message;
};

std::string Quoted(const char* scheme) { return "scheme '" + std::string(scheme) + "': "; }

void CheckAbi(const char* scheme, const char* table, int abi, int expected) {
  if (abi == expected) return;
  throw Failure{TF_FAILED_PRECONDITION, Quoted(scheme) + "the table " + table + " has ABI " +
                                            std::to_string(abi) + ", the host has " +
                                            std::to_string(expected)};
}

void CheckSet(const char* scheme, bool set, const char* what) {
  if (!set) throw Failure{TF_FAILED_PRECONDITION, Quoted(scheme) + what};
}

// The ABI of a table that is not there does not matter, except that of the filesystem's own.
void CheckAbis(const TF_FilesystemPluginOps& entry) {
  CheckAbi(entry.scheme, "filesystem_ops", entry.filesystem_ops_abi, TF_FILESYSTEM_OPS_ABI);
  if (entry.random_access_file_ops != nullptr)
    CheckAbi(entry.scheme, "random_access_file_ops", entry.random_access_file_ops_abi,
             TF_RANDOM_ACCESS_FILE_OPS_ABI);
  if (entry.writable_file_ops != nullptr)
    CheckAbi(entry.scheme, "writable_file_ops", entry.writable_file_ops_abi,
             TF_WRITABLE_FILE_OPS_ABI);
  if (entry.read_only_memory_region_ops != nullptr)
    CheckAbi(entry.scheme, "read_only_memory_region_ops", entry.read_only_memory_region_ops_abi,
             TF_READ_ONLY_MEMORY_REGION_OPS_ABI);
}

// A different API is logged by core and loads all the same, so it is not looked at here.
void CheckRequired(const TF_FilesystemPluginOps& entry) {
  const char* scheme = entry.scheme;
  const TF_FilesystemOps* ops = entry.filesystem_ops;
  CheckSet(scheme, ops != nullptr, "there is no table of filesystem operations");
  CheckSet(scheme, ops->init != nullptr, "filesystem_ops has no init");
  CheckSet(scheme, ops->cleanup != nullptr, "filesystem_ops has no cleanup");
  if (const auto* files = entry.random_access_file_ops)
    CheckSet(scheme, files->cleanup != nullptr, "random_access_file_ops has no cleanup");
  if (const auto* files = entry.writable_file_ops)
    CheckSet(scheme, files->cleanup != nullptr, "writable_file_ops has no cleanup");
  if (const auto* regions = entry.read_only_memory_region_ops) {
    CheckSet(scheme, regions->cleanup != nullptr, "read_only_memory_region_ops has no cleanup");
    CheckSet(scheme, regions->data != nullptr, "read_only_memory_region_ops has no data");
    CheckSet(scheme, regions->length != nullptr, "read_only_memory_region_ops has no length");
  }
  CheckSet(scheme,
           ops->new_random_access_file == nullptr || entry.random_access_file_ops != nullptr,
           "new_random_access_file needs the table random_access_file_ops");
  CheckSet(scheme,
           (ops->new_writable_file == nullptr && ops->new_appendable_file == nullptr) ||
               entry.writable_file_ops != nullptr,
           "new_writable_file and new_appendable_file need the table writable_file_ops");
  CheckSet(scheme,
           ops->new_read_only_memory_region_from_file == nullptr ||
               entry.read_only_memory_region_ops != nullptr,
           "new_read_only_memory_region_from_file needs the table read_only_memory_region_ops");
}

// At most as many bytes as the plugin says and as the host knows; the rest of the copy stays zero.
template <typename Table>
void CopyTable(Table& copy, const Table* table, size_t size) {
  if (table != nullptr) std::memcpy(&copy, table, std::min(size, sizeof copy));
}

template <typename Table>
void DescribeTable(Reply& reply, const Table* table, int abi, int api, size_t size) {
  Table copy{};
  CopyTable(copy, table, size);
  constexpr size_t kOps = sizeof(Table) / sizeof(void*);
  const void* entries[kOps];
  std::memcpy(entries, &copy, sizeof copy);
  uint64_t ops = 0;
  for (size_t k = 0; k < kOps; ++k) ops |= uint64_t{entries[k] != nullptr} << k;
  reply.Integer(table != nullptr).Integer(abi).Integer(api).Unsigned(size).Unsigned(ops);
}

// Pointers that the host will free and that stand in more than one place.
int64_t SharedBlocks(const TF_FilesystemPluginInfo& info) {
  std::set<const void*> seen;
  int64_t shared = 0;
  for (size_t k = 0; k < info.num_schemes; ++k) {
    const TF_FilesystemPluginOps& entry = info.ops[k];
    const void* const blocks[] = {entry.scheme, entry.filesystem_ops, entry.random_access_file_ops,
                                  entry.writable_file_ops, entry.read_only_memory_region_ops};
    for (const void* block : blocks) shared += block != nullptr && !seen.insert(block).second;
  }
  return shared;
}

}  // namespace

TF_FilesystemPluginOps& Host::Entry(int64_t index) {
  if (index < 0 || static_cast<size_t>(index) >= info_.num_schemes)
    throw BadRequest("there is no such scheme");
  return info_.ops[index];
}

Reply Host::InitPlugin(Request&) {
  if (init_plugin_ == nullptr) throw BadRequest("no plugin is loaded");
  info_ = {};
  const Guarded init_plugin(init_plugin_);
  init_plugin(&info_);
  const char* problem =
      info_.plugin_memory_allocate == nullptr ? "TF_InitPlugin set no plugin_memory_allocate"
      : info_.plugin_memory_free == nullptr   ? "TF_InitPlugin set no plugin_memory_free"
                                              : nullptr;
  return Reply("done")
      .Integer(problem == nullptr ? TF_OK : TF_FAILED_PRECONDITION)
      .Bytes(problem == nullptr ? "" : problem)
      .Unsigned(info_.num_schemes)
      .Integer(info_.plugin_memory_allocate != nullptr)
      .Integer(info_.plugin_memory_free != nullptr);
}

Reply Host::Describe(Request& request) {
  // Entries that were announced and are not there end the process here, as they end TensorFlow.
  const TF_FilesystemPluginOps& entry = Entry(request.TakeInteger());
  Reply reply("done");
  reply.Integer(entry.scheme != nullptr).Bytes(entry.scheme != nullptr ? entry.scheme : "");
  reply.Integer(SharedBlocks(info_));
  DescribeTable(reply, entry.filesystem_ops, entry.filesystem_ops_abi, entry.filesystem_ops_api,
                entry.filesystem_ops_size);
  DescribeTable(reply, entry.random_access_file_ops, entry.random_access_file_ops_abi,
                entry.random_access_file_ops_api, entry.random_access_file_ops_size);
  DescribeTable(reply, entry.writable_file_ops, entry.writable_file_ops_abi,
                entry.writable_file_ops_api, entry.writable_file_ops_size);
  DescribeTable(reply, entry.read_only_memory_region_ops, entry.read_only_memory_region_ops_abi,
                entry.read_only_memory_region_ops_api, entry.read_only_memory_region_ops_size);
  return reply;
}

Reply Host::Register(Request& request) {
  const TF_FilesystemPluginOps& entry = Entry(request.TakeInteger());
  const auto answer = [](TF_Code code, const std::string& message, bool init, bool set, int64_t n) {
    return Reply("done").Integer(code).Bytes(message).Integer(init).Integer(set).Integer(n);
  };
  try {
    if (entry.scheme == nullptr) throw Failure{TF_INVALID_ARGUMENT, "an entry has no scheme"};
    CheckAbis(entry);
    CheckRequired(entry);
  } catch (const Failure& failure) {
    return answer(failure.code, failure.message, false, false, -1);
  }
  auto filesystem = std::make_unique<Filesystem>();
  filesystem->scheme = entry.scheme;
  CopyTable(filesystem->ops, entry.filesystem_ops, entry.filesystem_ops_size);
  CopyTable(filesystem->random_access, entry.random_access_file_ops,
            entry.random_access_file_ops_size);
  CopyTable(filesystem->writable, entry.writable_file_ops, entry.writable_file_ops_size);
  CopyTable(filesystem->region, entry.read_only_memory_region_ops,
            entry.read_only_memory_region_ops_size);
  const StatusPointer status = FreshStatus();
  // Core calls the copy, so that a size which leaves init out ends the process there too.
  Guarded(filesystem->ops.init)(&filesystem->object, status.get());
  DirectoryMoved();  // what it did to the process is no matter of the first op
  const bool set = filesystem->object.plugin_filesystem != nullptr;
  if (TF_GetCode(status.get()) != TF_OK)
    return answer(TF_GetCode(status.get()), TF_Message(status.get()), true, set, -1);
  const bool duplicate =
      std::any_of(filesystems_.begin(), filesystems_.end(),
                  [&](const auto& other) { return other->scheme == filesystem->scheme; });
  if (duplicate) {
    refused_ = std::move(filesystem);
    return answer(TF_ALREADY_EXISTS, Quoted(entry.scheme) + "it is registered already", true, set,
                  kRefused);
  }
  filesystems_.push_back(std::move(filesystem));
  return answer(TF_OK, "", true, set, static_cast<int64_t>(filesystems_.size()) - 1);
}

Reply Host::Allocate(Request& request) {
  const size_t size = request.TakeUnsigned();
  const int64_t count = request.TakeInteger();
  std::vector<unsigned char*> blocks;
  Reply reply("done");
  for (int64_t k = 0; k < count; ++k) {
    blocks.push_back(static_cast<unsigned char*>(Guarded(info_.plugin_memory_allocate)(size)));
    reply.Unsigned(reinterpret_cast<uintptr_t>(blocks.back()));
  }
  // Each is filled before the first is looked at: none may be part of another one.
  for (size_t k = 0; k < blocks.size(); ++k)
    if (blocks[k] != nullptr) std::memset(blocks[k], static_cast<int>(k + 1), size);
  int64_t spoilt = 0;
  for (size_t k = 0; k < blocks.size(); ++k)
    spoilt +=
        blocks[k] != nullptr && !std::all_of(blocks[k], blocks[k] + size,
                                             [&](unsigned char byte) { return byte == k + 1; });
  for (unsigned char* block : blocks) Free(block);
  return std::move(reply.Integer(spoilt));
}

Reply Host::Release(Request& request) {
  const int64_t index = request.TakeInteger();
  if (index < 0) {
    // Core frees tables that are NULL like others; a plugin that has all four is asked to, too.
    Free(nullptr);
    Free(info_.ops);
    info_.ops = nullptr;
    info_.num_schemes = 0;
    return Reply("done");
  }
  const TF_FilesystemPluginOps entry = Entry(index);
  Free(entry.scheme);
  Free(entry.filesystem_ops);
  Free(entry.random_access_file_ops);
  Free(entry.writable_file_ops);
  Free(entry.read_only_memory_region_ops);
  return Reply("done");
}

}  // namespace tffs
