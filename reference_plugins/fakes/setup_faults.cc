// What goes wrong before a case has begun, or in what core does with the answers.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "faults.h"
#include "names.h"
#include "support/memory.h"

namespace fakes {
namespace {

void MissingIsUnknown(Filesystem filesystem, Path path, Status status) {
  Right().path_exists(filesystem, path, status);
  if (TF_GetCode(status) == TF_NOT_FOUND) TF_SetStatus(status, TF_UNKNOWN, path);
}

// An empty file comes into being with its first byte.

struct Written {
  std::string path;
  bool any = false;
};
PerObject<Written> written;

void OpensLate(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (!Worked(status)) return;
  written.Set(file->plugin_file, {path, false});
}

void AppendsLate(Writer file, const char* buffer, size_t n, Status status) {
  written.With(file->plugin_file, [&](Written& one) { one.any = one.any || n > 0; });
  Writing().append(file, buffer, n, status);
}

void ClosesLate(Writer file, Status status) {
  Writing().close(file, status);
  const Written one = written.Of(file->plugin_file);
  if (!one.any && !one.path.empty())
    Right().delete_file(nullptr, one.path.c_str(), Scratch().status());
}

// Works wherever names are plain.
void OnlyPlainNames(Filesystem filesystem, Path source, Path target, Status status) {
  const std::string both = std::string(source) + target;
  const auto odd = [](char c) { return c == '+' || static_cast<unsigned char>(c) > 0x7e; };
  if (std::any_of(both.begin(), both.end(), odd)) {
    return TF_SetStatus(status, TF_INTERNAL, "this name is not escaped");
  }
  Right().rename_file(filesystem, source, target, status);
}

// A directory that lists itself, so that a walk without a bound never ends.

int ListsItself(Filesystem filesystem, Path path, char*** entries, Status status) {
  char** right = nullptr;
  const int count = Right().get_children(filesystem, path, &right, status);
  if (count < 0) return count;
  std::vector<std::string> names = Taken(count, right);
  names.emplace_back(".");
  return support::CopyNames(names, entries);
}

// The last byte is read again and again: a copy never comes to an end.
int64_t EndsNever(Reader file, uint64_t offset, size_t n, char* buffer, Status status) {
  const int64_t got = Reading().read(file, offset, n, buffer, status);
  if (TF_GetCode(status) != TF_OUT_OF_RANGE) return got;
  TF_SetStatus(status, TF_OK, "");
  std::memset(buffer + got, 0, n - static_cast<size_t>(got));
  return static_cast<int64_t>(n);
}

// Entries that are there and only say that they are not.

template <typename T>
void Refuse(T) {}
void Refuse(Status status) { TF_SetStatus(status, TF_UNIMPLEMENTED, "read only"); }

template <typename... Arguments>
void Stub(Arguments... arguments) {
  (Refuse(arguments), ...);
}

template <typename... Arguments>
void MakeStub(void (*&entry)(Arguments...)) {
  entry = Stub<Arguments...>;
}

void OnlyReads(support::Tables& t) {
  MakeStub(t.filesystem.new_writable_file);
  MakeStub(t.filesystem.new_appendable_file);
  MakeStub(t.filesystem.create_dir);
  MakeStub(t.filesystem.recursively_create_dir);
  MakeStub(t.filesystem.delete_file);
  MakeStub(t.filesystem.delete_dir);
  MakeStub(t.filesystem.delete_recursively);
  MakeStub(t.filesystem.rename_file);
  MakeStub(t.filesystem.copy_file);
}

}  // namespace

std::vector<Fault> SetupFaults() {
  return {
      {"setup.missing-is-unknown",
       "path_exists answers UNKNOWN for what is missing; directories are left to core",
       "path_exists answers NOT_FOUND",
       [](support::Tables& t) {
         t.filesystem.path_exists = MissingIsUnknown;
         t.filesystem.recursively_create_dir = nullptr;
       }},
      {"setup.empty-file-is-not-there", "a file to which nothing was appended is not there",
       "a file that was opened for writing is there after OK",
       [](support::Tables& t) {
         t.filesystem.new_writable_file = OpensLate;
         t.writable_file.append = AppendsLate;
         t.writable_file.close = ClosesLate;
         t.writable_file.cleanup = Forgets<written>;
       }},
      {"setup.renames-plain-names-only",
       "rename_file is INTERNAL for names with '+' or beyond ASCII",
       "a name that may be created may be renamed", With(&Ops::rename_file, OnlyPlainNames)},
      {"setup.lists-itself", "get_children gives '.', too; trees are left to core to delete",
       "get_children gives names of entries",
       [](support::Tables& t) {
         t.filesystem.get_children = ListsItself;
         t.filesystem.delete_recursively = nullptr;
       }},
      {"setup.ends-never", "read answers OK behind the end, too; copies are left to core",
       "a read that meets the end is OUT_OF_RANGE",
       [](support::Tables& t) {
         t.random_access_file.read = EndsNever;
         t.filesystem.copy_file = nullptr;
       }},
      {"setup.stubs", "reads, and has entries for all else that answer UNIMPLEMENTED",
       "none: what is not implemented may say so", OnlyReads},
  };
}

}  // namespace fakes
