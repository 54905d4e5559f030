// What goes wrong before a case has begun, or in what core does with the answers.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

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
  if (std::any_of(both.begin(), both.end(), odd))
    return TF_SetStatus(status, TF_INTERNAL, "this name is not escaped");
  Right().rename_file(filesystem, source, target, status);
}

// A directory that lists itself, so that a walk without a bound never ends.

int ListsItself(Filesystem filesystem, Path path, char*** entries, Status status) {
  char** right = nullptr;
  const int count = Right().get_children(filesystem, path, &right, status);
  if (count < 0) return count;
  Names names = Taken(count, right);
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

void OnlyReads(support::Tables& t) {
  Answer<TF_UNIMPLEMENTED>(t.filesystem.new_writable_file);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.new_appendable_file);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.create_dir);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.recursively_create_dir);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.delete_file);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.delete_dir);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.delete_recursively);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.rename_file);
  Answer<TF_UNIMPLEMENTED>(t.filesystem.copy_file);
}

}  // namespace

std::vector<Fault> SetupFaults() {
  return {
      {"setup.missing-is-unknown",
       "path_exists answers UNKNOWN for what is missing; directories are left to core",
       "path_exists answers NOT_FOUND",
       Together(With(&Ops::path_exists, MissingIsUnknown),
                With(&Ops::recursively_create_dir, nullptr))},
      {"setup.empty-file-is-not-there", "a file to which nothing was appended is not there",
       "a file that was opened for writing is there after OK",
       Together(With(&Ops::new_writable_file, OpensLate), With(&WriterOps::append, AppendsLate),
                With(&WriterOps::close, ClosesLate), With(&WriterOps::cleanup, Forgets<written>))},
      {"setup.renames-plain-names-only",
       "rename_file is INTERNAL for names with '+' or beyond ASCII",
       "a name that may be created may be renamed", With(&Ops::rename_file, OnlyPlainNames)},
      {"setup.lists-itself", "get_children gives '.', too; trees are left to core to delete",
       "get_children gives names of entries",
       Together(With(&Ops::get_children, ListsItself), With(&Ops::delete_recursively, nullptr))},
      {"setup.ends-never", "read answers OK behind the end, too; copies are left to core",
       "a read that meets the end is OUT_OF_RANGE",
       Together(With(&ReaderOps::read, EndsNever), With(&Ops::copy_file, nullptr))},
      {"setup.stubs", "reads, and has entries for all else that answer UNIMPLEMENTED",
       "none: what is not implemented may say so", OnlyReads},
  };
}

}  // namespace fakes
