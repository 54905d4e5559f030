// Asking about paths, and their names.

#include <cctype>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "faults.h"
#include "names.h"
#include "support/memory.h"
#include "support/paths.h"

namespace fakes {
namespace {

// path_exists and paths_exist

void PrefixExists(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (TF_GetCode(status) != TF_NOT_FOUND) return;
  const std::string whole = path;
  const std::string name = NameIn(whole);
  for (const std::string& sibling : Children(filesystem, support::ParentOf(whole)))
    if (sibling.compare(0, name.size(), name) == 0) return TF_SetStatus(status, TF_OK, "");
}

void OnlyFilesExist(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (Worked(status) && Right().is_directory(filesystem, path, Scratch().status()))
    TF_SetStatus(status, TF_NOT_FOUND, path);
}

bool IgnoresStatuses(Filesystem filesystem, char** paths, int count, TF_Status**) {
  return Right().paths_exist(filesystem, paths, count, nullptr);
}

bool StopsAtFirst(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  for (int k = 0; k < count; ++k) {
    if (!Right().paths_exist(filesystem, paths + k, 1, statuses ? statuses + k : nullptr))
      return false;
  }
  return true;
}

bool AlwaysTrue(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  Right().paths_exist(filesystem, paths, count, statuses);
  return true;
}

bool AnyWillDo(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  bool any = count <= 0;
  for (int k = 0; k < count; ++k)
    any |= Right().paths_exist(filesystem, paths + k, 1, statuses ? statuses + k : nullptr);
  return any;
}

bool NoneIsFalse(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  return count > 0 && Right().paths_exist(filesystem, paths, count, statuses);
}

bool NeedsStatuses(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  for (int k = 0; k < count; ++k) TF_SetStatus(statuses[k], TF_OK, "");
  return Right().paths_exist(filesystem, paths, count, statuses);
}

// stat

// Performs the right stat, and `change` on what it gave.
template <void (*change)(TF_FileStatistics*)>
void Changed(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  Right().stat(filesystem, path, facts, status);
  if (Worked(status)) change(facts);
}

void LongerByOne(TF_FileStatistics* facts) { facts->length += 1; }
void InSeconds(TF_FileStatistics* facts) { facts->mtime_nsec /= 1000000000; }
void NeverDirectory(TF_FileStatistics* facts) { facts->is_directory = false; }

// A bool that is neither 0 nor 1: true in one comparison, false in another.
void OddBool(TF_FileStatistics* facts) {
  if (facts->is_directory) std::memset(&facts->is_directory, 0x42, sizeof(facts->is_directory));
}

void WritesOnError(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  *facts = {-1, -1, false};
  Right().stat(filesystem, path, facts, status);
}

void StatStale(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  static std::mutex mutex;
  static std::map<std::string, TF_FileStatistics> seen;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = seen.find(path);
  if (known != seen.end()) {
    *facts = known->second;
    return TF_SetStatus(status, TF_OK, "");
  }
  Right().stat(filesystem, path, facts, status);
  if (Worked(status)) seen[path] = *facts;
}

// is_directory and get_file_size

template <bool answer>
bool Always(Filesystem filesystem, Path path, Status status) {
  Right().is_directory(filesystem, path, status);
  return answer;
}

bool TrueForFile(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  return Worked(status);
}

bool AsTheHeaderSays(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  if (!is_directory) Right().path_exists(filesystem, path, status);
  return is_directory;
}

int64_t SizePlusOne(Filesystem filesystem, Path path, Status status) {
  const int64_t size = Right().get_file_size(filesystem, path, status);
  return Worked(status) ? size + 1 : size;
}

int64_t Size32(Filesystem filesystem, Path path, Status status) {
  return static_cast<int32_t>(Right().get_file_size(filesystem, path, status));
}

int64_t DirectoryIsZero(Filesystem filesystem, Path path, Status status) {
  const int64_t size = Right().get_file_size(filesystem, path, status);
  if (!Right().is_directory(filesystem, path, Scratch().status())) return size;
  TF_SetStatus(status, TF_OK, "");
  return 0;
}

// translate_name

char* NullName(Filesystem, Path) { return nullptr; }

char* StaticName(Filesystem filesystem, Path uri) {
  static std::mutex mutex;
  static char buffer[4096];
  char* name = Right().translate_name(filesystem, uri);
  const std::lock_guard<std::mutex> lock(mutex);
  std::strncpy(buffer, name, sizeof(buffer) - 1);
  support::Free(name);
  return buffer;
}

char* LowercaseName(Filesystem filesystem, Path uri) {
  char* name = Right().translate_name(filesystem, uri);
  for (char* c = name; *c != '\0'; ++c) *c = static_cast<char>(std::tolower(*c));
  return name;
}

char* UncleanName(Filesystem, Path uri) {
  const support::Uri parts = support::ParseUri(uri);
  if (parts.path.empty()) return support::CopyString(parts.prefix.empty() ? "" : "/");
  return support::CopyString(std::string(parts.path));
}

// Another name every time.
char* CountingName(Filesystem filesystem, Path uri) {
  static int calls = 0;
  char* name = Right().translate_name(filesystem, uri);
  if (name == nullptr || *name != '/' || ++calls % 2 == 1) return name;
  const std::string doubled = "/" + std::string(name);
  support::Free(name);
  return support::CopyString(doubled);
}

void MtimeBackwards(TF_FileStatistics* facts) {
  static int64_t seconds = 0;
  facts->mtime_nsec -= ++seconds * 1000000000;
}

bool CreatesMissing(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  const bool all = Right().paths_exist(filesystem, paths, count, statuses);
  for (int k = 0; k < count; ++k) Right().create_dir(filesystem, paths[k], Scratch().status());
  return all;
}

// Puts statuses of its own into the array.
bool ReplacesStatuses(Filesystem filesystem, char** paths, int count, TF_Status** statuses) {
  const bool all = Right().paths_exist(filesystem, paths, count, statuses);
  for (int k = 0; statuses != nullptr && k < count; ++k) {
    Status own = TF_NewStatus();
    TF_SetStatus(own, TF_GetCode(statuses[k]), TF_Message(statuses[k]));
    statuses[k] = own;
  }
  return all;
}

using PathsExist = bool (*)(Filesystem, char**, int, TF_Status**);
using Stat = void (*)(Filesystem, Path, TF_FileStatistics*, Status);

Fault Existing(const char* name, const char* what, const char* breaks, PathsExist op) {
  return {name, what, breaks, With(&Ops::paths_exist, op)};
}

Fault Stating(const char* name, const char* what, const char* breaks, Stat op) {
  return {name, what, breaks, With(&Ops::stat, op)};
}

template <auto Entry, typename Function>
Fault On(const char* name, const char* what, const char* breaks, Function op) {
  return {name, what, breaks, With(Entry, op)};
}

}  // namespace

std::vector<Fault> QueryFaults() {
  constexpr auto kExists = &Ops::path_exists;
  constexpr auto kIsDirectory = &Ops::is_directory;
  constexpr auto kSize = &Ops::get_file_size;
  constexpr auto kName = &Ops::translate_name;
  constexpr const char* kAll = "true if and only if every path exists";
  constexpr const char* kStatuses = "each status is set, for each path";
  constexpr const char* kFacts = "the statistics are those of the path";
  constexpr const char* kKind = "a directory is {true, OK}, and a file is never true";
  constexpr const char* kLength = "the size is the length that stat gives";
  constexpr const char* kBuffer = "a new buffer from the plugin's allocator, never NULL";
  return {
      On<kExists>("path_exists.prefix", "a path exists if a sibling's name begins with its name",
                  "a missing path is NOT_FOUND", PrefixExists),
      On<kExists>("path_exists.only-files", "a directory is NOT_FOUND", "a directory exists",
                  OnlyFilesExist),
      Existing("paths_exist.ignores-statuses", "leaves the statuses as they came", kStatuses,
               IgnoresStatuses),
      Existing("paths_exist.replaces-statuses", "puts other statuses into the array",
               "statuses are set, and none is replaced", ReplacesStatuses),
      Existing("paths_exist.stops-at-first", "sets no status behind the first failure", kStatuses,
               StopsAtFirst),
      Existing("paths_exist.always-true", "true", kAll, AlwaysTrue),
      Existing("paths_exist.any", "true if one path exists", kAll, AnyWillDo),
      Existing("paths_exist.none-is-false", "no paths are false", kAll, NoneIsFalse),
      Existing("paths_exist.needs-statuses", "crashes where the statuses are NULL",
               "the statuses may be NULL", NeedsStatuses),
      Stating("stat.length-plus-one", "one byte too many", kFacts, Changed<LongerByOne>),
      Stating("stat.mtime-seconds", "the time is in seconds", "mtime_nsec is in nanoseconds",
              Changed<InSeconds>),
      Stating("stat.never-directory", "a directory is called a file", kFacts,
              Changed<NeverDirectory>),
      Stating("stat.odd-bool", "a directory has a bool with the bits 0x42", kFacts,
              Changed<OddBool>),
      Stating("stat.writes-on-error", "writes the statistics before it knows",
              "the statistics are written only with OK", WritesOnError),
      Stating("stat.stale", "what a path was when first asked about stays for ever",
              "a query sees what has been done", StatStale),
      On<kIsDirectory>("is_directory.always-true", "true, with the right status", kKind,
                       Always<true>),
      On<kIsDirectory>("is_directory.true-for-file", "{true, OK} for all that exists", kKind,
                       TrueForFile),
      On<kIsDirectory>("is_directory.false-for-directory", "{false, OK} for a directory", kKind,
                       Always<false>),
      On<kIsDirectory>("is_directory.header-reading", "{false, OK} for a file",
                       "none: the header's words, against TensorFlow's practice", AsTheHeaderSays),
      On<kSize>("get_file_size.plus-one", "one byte too many", kLength, SizePlusOne),
      On<kSize>("get_file_size.only-32-bits", "loses all but 32 bits, the highest for the sign",
                kLength, Size32),
      On<kSize>("get_file_size.directory-is-zero", "a directory is OK with 0",
                "a directory is FAILED_PRECONDITION", DirectoryIsZero),
      On<kName>("translate_name.null", "NULL", kBuffer, NullName),
      On<kName>("translate_name.static-buffer", "a buffer that cannot be freed", kBuffer,
                StaticName),
      On<kName>("translate_name.lowercases", "turns capitals into small letters",
                "different names stay different", LowercaseName),
      Existing("paths_exist.creates-missing", "creates what is missing, after it has looked",
               "asking changes nothing", CreatesMissing),
      Stating("stat.mtime-backwards", "each call gives an earlier time than the last",
              "what was written later is not older", Changed<MtimeBackwards>),
      On<kName>("translate_name.counts", "gives another name every second time",
                "one URI, one name", CountingName),
      On<kName>("translate_name.unclean", "leaves //, . and .. as they are",
                "names are cleaned of //, . and ..", UncleanName),
  };
}

}  // namespace fakes
