// Faults that take several ops to show: each op alone is right.

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

#include "faults.h"
#include "mishaps.h"
#include "names.h"

namespace fakes {
namespace {

// Paths to which something happened that later ops remember.
class Paths {
 public:
  void Add(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    paths_.insert(path);
  }

  void Remove(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    paths_.erase(path);
  }

  bool Has(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return paths_.count(path) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

// The paths that were deleted so far, and those that an op has to remember beside.
Paths deleted;
Paths marked;

void Remembers(Filesystem filesystem, Path path, Status status) {
  Right().delete_dir(filesystem, path, status);
  if (Worked(status)) deleted.Add(path);
}

template <void (*mishap)()>
void StumblesOverTheDeleted(Filesystem filesystem, Path path, Status status) {
  if (deleted.Has(path)) mishap();
  Right().create_dir(filesystem, path, status);
}

template <void (*mishap)()>
void AtTheThirdStep(support::Tables& tables) {
  tables.filesystem.delete_dir = Remembers;
  tables.filesystem.create_dir = StumblesOverTheDeleted<mishap>;
}

// A copy that is the same file: right until one of the two is written to.
void CopiesByLink(Filesystem filesystem, Path source, Path target, Status status) {
  Right().copy_file(filesystem, source, target, status);
  if (!Worked(status)) return;
  unlink(target);
  if (link(source, target) != 0) TF_SetStatus(status, TF_INTERNAL, target);
}

void NewWriterForgets(Filesystem filesystem, Path path, TF_WritableFile* file, Status status) {
  Right().new_writable_file(filesystem, path, file, status);
  if (Worked(status)) marked.Remove(path);
}

void DeletesAndRemembers(Filesystem filesystem, Path path, Status status) {
  Right().delete_file(filesystem, path, status);
  if (Worked(status)) deleted.Add(path);
}

// What takes the place of a deleted file by rename_file is not seen.

void RenamesOntoTheDeleted(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (Worked(status) && deleted.Has(target)) marked.Add(target);
}

void StatOfTheDeleted(Filesystem filesystem, Path path, TF_FileStatistics* facts, Status status) {
  if (marked.Has(path)) return TF_SetStatus(status, TF_NOT_FOUND, path);
  Right().stat(filesystem, path, facts, status);
}

// A name from which a file was renamed stays that of a file.

void RenamesAndRemembers(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (Worked(status)) marked.Add(source);
}

bool IsDirectoryUnlessRenamed(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  if (!is_directory || !marked.Has(path)) return is_directory;
  TF_SetStatus(status, TF_FAILED_PRECONDITION, path);
  return false;
}

// A refused op leaves something in the memory of the plugin.

void CreateDirIsRemembered(Filesystem filesystem, Path path, Status status) {
  Right().create_dir(filesystem, path, status);
  if (TF_GetCode(status) == TF_ALREADY_EXISTS) marked.Add(path);
}

bool IsDirectoryIfRemembered(Filesystem filesystem, Path path, Status status) {
  const bool is_directory = Right().is_directory(filesystem, path, status);
  if (TF_GetCode(status) != TF_FAILED_PRECONDITION || !marked.Has(path)) return is_directory;
  TF_SetStatus(status, TF_OK, "");
  return true;
}

void RenameForgetsTheRefused(Filesystem filesystem, Path source, Path target, Status status) {
  Right().rename_file(filesystem, source, target, status);
  if (!Worked(status)) marked.Add(source);
}

void DeletesWhatIsRemembered(Filesystem filesystem, Path path, Status status) {
  if (marked.Has(path)) return TF_SetStatus(status, TF_NOT_FOUND, path);
  Right().delete_file(filesystem, path, status);
}

// Directories that nobody made for themselves go with what is in them.

void MarksWhatIsMade(Filesystem filesystem, Path path, Status status) {
  Names missing;
  const std::string whole = path;
  for (size_t end = whole.rfind('/'); end != std::string::npos && end > 0;
       end = whole.rfind('/', end - 1)) {
    const std::string above = whole.substr(0, end);
    if (access(above.c_str(), F_OK) == 0) break;
    missing.push_back(above);
  }
  Right().recursively_create_dir(filesystem, path, status);
  if (Worked(status))
    for (const std::string& made : missing) marked.Add(made);
}

void DeletesWithTheMarked(Filesystem filesystem, Path path, Status status) {
  Right().delete_dir(filesystem, path, status);
  const std::string whole = path;
  const std::string above = whole.substr(0, whole.rfind('/'));
  if (Worked(status) && marked.Has(above)) rmdir(above.c_str());
}

void WriterMarksItsDirectory(Filesystem filesystem, Path path, TF_WritableFile* file,
                             Status status) {
  const std::string whole = path;
  Right().new_writable_file(filesystem, path, file, status);
  if (Worked(status)) marked.Add(whole.substr(0, whole.rfind('/')));
}

void DeletesTheUnmarked(Filesystem filesystem, Path path, Status status) {
  if (marked.Has(path)) return Become(status, TF_FAILED_PRECONDITION);
  Right().delete_dir(filesystem, path, status);
}

// What a plugin needs is made by the ops that are called first in most processes. One op goes
// without.
std::atomic<bool> has_client{false};

template <auto op>
struct Client;

template <typename Result, typename... Arguments, Result (*Ops::*op)(Arguments...)>
struct Client<op> {
  static Result Makes(Arguments... arguments) {
    has_client = true;
    return (Right().*op)(arguments...);
  }

  static Result Needs(Arguments... arguments) {
    if (has_client) return (Right().*op)(arguments...);
    TF_SetStatus(std::get<sizeof...(arguments) - 1>(std::tie(arguments...)), TF_INTERNAL,
                 "no client");
    if constexpr (!std::is_void_v<Result>) return -1;
  }
};

template <auto op>
void NeedsAClient(support::Tables& tables) {
  tables.filesystem.create_dir = Client<&Ops::create_dir>::Makes;
  tables.filesystem.path_exists = Client<&Ops::path_exists>::Makes;
  tables.filesystem.stat = Client<&Ops::stat>::Makes;
  tables.filesystem.new_writable_file = Client<&Ops::new_writable_file>::Makes;
  tables.filesystem.*op = Client<op>::Needs;
}

template <auto op>
Fault WithoutClient(const std::string& name) {
  return {"history.no-client-yet:" + name,
          name + " fails where no other op was called before in its process",
          "an op needs no other one before it", NeedsAClient<op>};
}

}  // namespace

std::vector<Fault> HistoryFaults() {
  return {
      WithoutClient<&Ops::copy_file>("copy_file"),
      WithoutClient<&Ops::rename_file>("rename_file"),
      WithoutClient<&Ops::get_children>("get_children"),
      WithoutClient<&Ops::new_random_access_file>("new_random_access_file"),
      WithoutClient<&Ops::stat>("stat"),
      WithoutClient<&Ops::path_exists>("path_exists"),
      {"history.crash", "create_dir crashes for a directory that was there before and was deleted",
       "every op comes back", AtTheThirdStep<Crash>},
      {"history.hang", "create_dir hangs for a directory that was there before and was deleted",
       "every op comes back", AtTheThirdStep<Hang>},
      {"history.copy-shares",
       "a copy and its original are one file: who writes to one changes both",
       "a copy is a file of its own", With(&Ops::copy_file, CopiesByLink)},
      {"history.stays-deleted", "stat does not see what was renamed onto a name that was deleted",
       "a file is there after rename_file",
       Together(With(&Ops::delete_file, DeletesAndRemembers),
                With(&Ops::rename_file, RenamesOntoTheDeleted),
                With(&Ops::new_writable_file, NewWriterForgets),
                With(&Ops::stat, StatOfTheDeleted))},
      {"history.stays-a-file",
       "is_directory denies a directory whose name a file had that was renamed",
       "is_directory sees what is there now",
       Together(With(&Ops::rename_file, RenamesAndRemembers),
                With(&Ops::is_directory, IsDirectoryUnlessRenamed))},
      {"history.refused-create-counts",
       "is_directory calls a file a directory after create_dir was refused there",
       "what is refused changes nothing",
       Together(With(&Ops::create_dir, CreateDirIsRemembered),
                With(&Ops::is_directory, IsDirectoryIfRemembered))},
      {"history.refused-rename-counts",
       "delete_file does not find a file after rename_file was refused for it",
       "what is refused changes nothing",
       Together(With(&Ops::rename_file, RenameForgetsTheRefused),
                With(&Ops::new_writable_file, NewWriterForgets),
                With(&Ops::delete_file, DeletesWhatIsRemembered))},
      {"history.parents-go-too",
       "delete_dir deletes the parent too, if recursively_create_dir made it on the way and it is "
       "empty",
       "one directory is deleted",
       Together(With(&Ops::recursively_create_dir, MarksWhatIsMade),
                With(&Ops::delete_dir, DeletesWithTheMarked))},
      {"history.stays-full", "a directory in which a file was written is never empty again",
       "a directory is empty when all in it is deleted",
       Together(With(&Ops::new_writable_file, WriterMarksItsDirectory),
                With(&Ops::delete_dir, DeletesTheUnmarked))},
  };
}

}  // namespace fakes
