// libmalformed.so: the posix plugin behind the scheme `malformed`, registered wrongly in the way
// that TFFS_FAULT names.

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "choice.h"
#include "faults.h"
#include "mishaps.h"
#include "posix/tables.h"
#include "support/memory.h"

namespace fakes {
namespace {

using Info = TF_FilesystemPluginInfo;
using Malformation = FaultIn<Info>;

constexpr const char* kScheme = "malformed";

constexpr const char* kRequired = "the entry is required";
constexpr const char* kAbi = "a table of another ABI is refused";
constexpr const char* kApi = "a table of another API is loaded, with a line in the log";
constexpr const char* kPair = "an op that makes an object needs the table for it";
constexpr const char* kFilled = "an op that makes an object needs a filled table for it";
constexpr const char* kOwned =
    "scheme and tables are blocks of their own, from the plugin's allocator";
constexpr const char* kSize = "the size is that of the table";
constexpr const char* kParser = "only letters, digits and dots are parsed as a scheme";

void Replace(char*& text, const char* with) {
  support::Free(text);
  text = with == nullptr ? nullptr : support::CopyString(with);
}

// Adds an entry for `scheme`.
void AddEntry(Info& info, const char* scheme) {
  Info more = {};
  support::Register(scheme, posix::AllTables(), &more);
  auto* both = static_cast<TF_FilesystemPluginOps*>(
      support::Allocate((info.num_schemes + 1) * sizeof(TF_FilesystemPluginOps)));
  std::memcpy(both, info.ops, info.num_schemes * sizeof(TF_FilesystemPluginOps));
  both[info.num_schemes] = more.ops[0];
  support::Free(info.ops);
  support::Free(more.ops);
  info.ops = both;
  ++info.num_schemes;
}

// Drops a table. `Table` is the pointer to it in an entry.
template <auto Table>
void Drop(Info& info) {
  support::Free(info.ops[0].*Table);
  info.ops[0].*Table = nullptr;
}

// One entry of a table becomes NULL.
template <auto Table, auto Entry>
Malformation Null(const char* name, const char* what, const char* breaks) {
  return {name, what, breaks, [](Info& info) { info.ops[0].*Table->*Entry = nullptr; }};
}

using Entries = TF_FilesystemPluginOps;
constexpr auto kFilesystem = &Entries::filesystem_ops;
constexpr auto kReader = &Entries::random_access_file_ops;
constexpr auto kWriter = &Entries::writable_file_ops;
constexpr auto kRegion = &Entries::read_only_memory_region_ops;

template <auto Number>
Malformation Version(const std::string& name, const char* what, const char* breaks) {
  return {name, what, breaks, [](Info& info) { info.ops[0].*Number += 1; }};
}

std::vector<Malformation> Versions() {
  constexpr const char* kNewAbi = "the ABI is 1";
  constexpr const char* kNewApi = "the API is 1";
  return {
      Version<&Entries::filesystem_ops_abi>("abi:filesystem", kNewAbi, kAbi),
      Version<&Entries::random_access_file_ops_abi>("abi:random_access_file", kNewAbi, kAbi),
      Version<&Entries::writable_file_ops_abi>("abi:writable_file", kNewAbi, kAbi),
      Version<&Entries::read_only_memory_region_ops_abi>("abi:read_only_memory_region", kNewAbi,
                                                         kAbi),
      Version<&Entries::filesystem_ops_api>("api:filesystem", kNewApi, kApi),
      Version<&Entries::random_access_file_ops_api>("api:random_access_file", kNewApi, kApi),
      Version<&Entries::writable_file_ops_api>("api:writable_file", kNewApi, kApi),
      Version<&Entries::read_only_memory_region_ops_api>("api:read_only_memory_region", kNewApi,
                                                         kApi),
  };
}

std::vector<Malformation> Missing() {
  return {
      {"allocate-null", "plugin_memory_allocate is NULL", kRequired,
       [](Info& info) { info.plugin_memory_allocate = nullptr; }},
      {"free-null", "plugin_memory_free is NULL", kRequired,
       [](Info& info) { info.plugin_memory_free = nullptr; }},
      {"scheme-null", "the scheme is NULL", kRequired,
       [](Info& info) { Replace(info.ops[0].scheme, nullptr); }},
      {"filesystem-ops-null", "there is no filesystem table", kRequired, Drop<kFilesystem>},
      Null<kFilesystem, &TF_FilesystemOps::init>("init-null", "init is NULL", kRequired),
      Null<kFilesystem, &TF_FilesystemOps::cleanup>("cleanup-null", "cleanup is NULL", kRequired),
      Null<kReader, &TF_RandomAccessFileOps::cleanup>("random_access_file.cleanup-null",
                                                      "the reader's cleanup is NULL", kRequired),
      Null<kWriter, &TF_WritableFileOps::cleanup>("writable_file.cleanup-null",
                                                  "the writer's cleanup is NULL", kRequired),
      Null<kRegion, &TF_ReadOnlyMemoryRegionOps::cleanup>(
          "region.cleanup-null", "the region's cleanup is NULL", kRequired),
      Null<kRegion, &TF_ReadOnlyMemoryRegionOps::data>("region.data-null", "data is NULL",
                                                       kRequired),
      Null<kRegion, &TF_ReadOnlyMemoryRegionOps::length>("region.length-null", "length is NULL",
                                                         kRequired),
      {"no-table:new_random_access_file", "the op is there, its object's table is not", kPair,
       Drop<kReader>},
      {"no-table:new_writable_file", "the op is there, its object's table is not", kPair,
       [](Info& info) {
         info.ops[0].filesystem_ops->new_appendable_file = nullptr;
         Drop<kWriter>(info);
       }},
      {"no-table:new_appendable_file", "the op is there, its object's table is not", kPair,
       [](Info& info) {
         info.ops[0].filesystem_ops->new_writable_file = nullptr;
         Drop<kWriter>(info);
       }},
      {"no-table:new_read_only_memory_region_from_file",
       "the op is there, its object's table is not", kPair, Drop<kRegion>},
      Null<kReader, &TF_RandomAccessFileOps::read>(
          "read-null", "files are opened for reading, and read is NULL", kFilled),
      Null<kWriter, &TF_WritableFileOps::append>(
          "append-null", "files are opened for writing, and append is NULL", kFilled),
      {"only-cleanup", "files are not opened for reading, and their table has a cleanup alone",
       "a table without ops is NULL",
       [](Info& info) {
         info.ops[0].filesystem_ops->new_random_access_file = nullptr;
         info.ops[0].random_access_file_ops->read = nullptr;
       }},
      {"zero-schemes", "there are no schemes", "a plugin brings at least one scheme",
       [](Info& info) { info.num_schemes = 0; }},
      {"ops-null", "one scheme, and the array of entries is NULL",
       "ops has as many entries as there are schemes", [](Info& info) { info.ops = nullptr; }},
  };
}

std::vector<Malformation> Schemes() {
  return {
      {"two-schemes", "malformed and malformed2", "none: a plugin may bring several schemes",
       [](Info& info) { AddEntry(info, "malformed2"); }},
      {"duplicate-scheme", "malformed, twice", "a scheme that is taken is ALREADY_EXISTS",
       [](Info& info) { AddEntry(info, kScheme); }},
  };
}

void InitFails(TF_Filesystem*, TF_Status* status) {
  TF_SetStatus(status, TF_PERMISSION_DENIED, "the fault does not let anybody in");
}

// Both of two schemes end when one is cleaned up; init of the second one, by a second TF_InitPlugin
// too, is what the count is for.
int inits = 0;
bool ended = false;

void Init(TF_Filesystem* filesystem, TF_Status* status) {
  ++inits;
  posix::AllTables().filesystem.init(filesystem, status);
}

void EndAll(TF_Filesystem* filesystem) {
  ended = inits > 1;
  posix::AllTables().filesystem.cleanup(filesystem);
}

void ExistsUntilTheEnd(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  if (ended) return TF_SetStatus(status, TF_FAILED_PRECONDITION, "the filesystem has ended");
  posix::AllTables().filesystem.path_exists(filesystem, path, status);
}

void ShareAnEnd(TF_FilesystemOps& ops) {
  ops.init = Init;
  ops.cleanup = EndAll;
  ops.path_exists = ExistsUntilTheEnd;
}

// Blocks of 1000 bytes and more lie in one arena, too near to each other.
alignas(16) char arena[size_t{2} << 20];
size_t given = 0;

bool InArena(const void* block) {
  return block >= static_cast<const void*>(arena) &&
         block < static_cast<const void*>(arena + sizeof arena);
}

void* AllocateTooNear(size_t size) {
  if (size < 1000) return support::Allocate(size);
  char* block = arena + given;
  given = (given + 16) % 4096;
  return block;
}

void* AllocateAtOdd(size_t size) {
  char* block = static_cast<char*>(support::Allocate(size + 1));
  return block == nullptr ? nullptr : block + 1;
}

void FreeUnlessInArena(void* block) {
  if (!InArena(block)) support::Free(block);
}

// What was made before the change is aligned, what was made after it is not.
void FreeAtOdd(void* block) {
  const bool odd = (reinterpret_cast<uintptr_t>(block) & 1) != 0;
  support::Free(odd ? static_cast<char*>(block) - 1 : block);
}

void FreeRejectsNull(void* block) {
  if (block == nullptr) std::abort();
  support::Free(block);
}

// The table moves to a block of `size` bytes more, all of them set.
void Lengthen(Info& info, size_t size) {
  TF_FilesystemPluginOps& entry = info.ops[0];
  const size_t before = sizeof(TF_FilesystemOps);
  char* block = static_cast<char*>(support::Allocate(before + size));
  std::memcpy(block, entry.filesystem_ops, before);
  std::memset(block + before, 0x7f, size);
  support::Free(entry.filesystem_ops);
  entry.filesystem_ops = reinterpret_cast<TF_FilesystemOps*>(block);
  entry.filesystem_ops_size = before + size;
}

std::vector<Malformation> Blocks() {
  return {
      {"init-fails", "init answers PERMISSION_DENIED", "a scheme whose init fails is not there",
       [](Info& info) { info.ops[0].filesystem_ops->init = InitFails; }},
      {"second-init-ends-first",
       "the cleanup of a filesystem whose scheme is taken ends the first one",
       "each filesystem lives until its own cleanup",
       [](Info& info) { ShareAnEnd(*info.ops[0].filesystem_ops); }},
      {"cleanup-ends-all", "malformed and malformed2; the cleanup of one ends both",
       "each filesystem lives until its own cleanup",
       [](Info& info) {
         AddEntry(info, "malformed2");
         ShareAnEnd(*info.ops[0].filesystem_ops);
         ShareAnEnd(*info.ops[1].filesystem_ops);
       }},
      {"allocate-overlaps", "two large blocks of the allocator share memory",
       "a block of the allocator belongs to who asked for it",
       [](Info& info) {
         info.plugin_memory_allocate = AllocateTooNear;
         info.plugin_memory_free = FreeUnlessInArena;
       }},
      {"allocate-misaligned", "blocks of the allocator begin at odd addresses",
       "a block of the allocator suits every type",
       [](Info& info) {
         info.plugin_memory_allocate = AllocateAtOdd;
         info.plugin_memory_free = FreeAtOdd;
       }},
      {"shared-table", "two schemes, malformed and malformed2, with one filesystem table", kOwned,
       [](Info& info) {
         AddEntry(info, "malformed2");
         support::Free(info.ops[1].filesystem_ops);
         info.ops[1].filesystem_ops = info.ops[0].filesystem_ops;
       }},
      {"static-table", "the filesystem table is static", kOwned,
       [](Info& info) {
         static TF_FilesystemOps ops;
         ops = *info.ops[0].filesystem_ops;
         support::Free(info.ops[0].filesystem_ops);
         info.ops[0].filesystem_ops = &ops;
       }},
      {"static-scheme", "the scheme is static", kOwned,
       [](Info& info) {
         static char scheme[] = "malformed";
         support::Free(info.ops[0].scheme);
         info.ops[0].scheme = scheme;
       }},
      {"free-rejects-null", "plugin_memory_free aborts on NULL, and there is no region table",
       "plugin_memory_free accepts NULL",
       [](Info& info) {
         info.ops[0].filesystem_ops->new_read_only_memory_region_from_file = nullptr;
         Drop<kRegion>(info);
         info.plugin_memory_free = FreeRejectsNull;
       }},
      {"size:longer", "the table has 8 more entries than the interface, as a later one may",
       "none: a longer table is cut to what is known",
       [](Info& info) { Lengthen(info, 8 * sizeof(void*)); }},
  };
}

// Both take what stands behind the colon.
std::vector<Malformation> WithArgument(const std::string& chosen) {
  const auto starts = [&](const char* with) { return chosen.rfind(with, 0) == 0; };
  std::vector<Malformation> rows = {
      {"size:<bytes>", "that size for the filesystem table", kSize, nullptr},
      {"scheme:<text>", "that text for the scheme, which may be empty", kParser, nullptr},
  };
  if (starts("size:") && chosen.find_first_not_of("0123456789", 5) == std::string::npos) {
    const size_t size = std::strtoull(chosen.c_str() + 5, nullptr, 10);
    rows[0].name = chosen;
    rows[0].apply = [size](Info& info) { info.ops[0].filesystem_ops_size = size; };
  } else if (starts("scheme:")) {
    rows[1].name = chosen;
    rows[1].apply = [text = chosen.substr(7)](Info& info) {
      Replace(info.ops[0].scheme, text.c_str());
    };
  }
  return rows;
}

// In place of an answer.
std::vector<Malformation> Mishaps() {
  constexpr const char* kReturns = "TF_InitPlugin returns";
  return {
      {"crash-in-init-plugin", "TF_InitPlugin writes through a NULL pointer", kReturns,
       [](Info&) { Crash(); }},
      {"hang-in-init-plugin", "TF_InitPlugin blocks for ever", kReturns, [](Info&) { Hang(); }},
      {"exit-in-init-plugin", "TF_InitPlugin ends the process with exit(0)", kReturns,
       [](Info&) { Exit(); }},
      {"hangs-when-filled", "TF_InitPlugin blocks for ever where the allocator fills what it gives",
       "none: a pool may be large", [](Info&) { HangWhenFilled(); }},
      {"umask-in-init-plugin", "TF_InitPlugin sets the umask to 0",
       "loading leaves the process as it was", [](Info&) { ChangeUmask(); }},
      {"signals-in-init-plugin", "TF_InitPlugin installs a handler for SIGSEGV",
       "loading leaves the process as it was",
       [](Info&) { std::signal(SIGSEGV, [](int) { _exit(0); }); }},
      {"aborts-at-exit", "TF_InitPlugin registers a function that aborts when the process exits",
       "a process with a plugin in it can end", [](Info&) { AbortAtExit(); }},
      {"throw-in-init-plugin", "TF_InitPlugin lets a C++ exception out", kReturns,
       [](Info&) { Throw(); }},
  };
}

}  // namespace
}  // namespace fakes

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const char* chosen = std::getenv("TFFS_FAULT");
  std::vector<fakes::Malformation> all;
  for (const auto& theme :
       {fakes::Missing(), fakes::Versions(), fakes::Schemes(), fakes::Blocks(),
        fakes::WithArgument(chosen == nullptr ? "" : chosen), fakes::Mishaps()}) {
    all.insert(all.end(), theme.begin(), theme.end());
  }
  support::Register(fakes::kScheme, posix::AllTables(), info);
  if (info->ops != nullptr) fakes::ApplyChosen(all, *info);
}
