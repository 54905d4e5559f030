// Faults that take several ops to show: each op alone is right.

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "faults.h"
#include "mishaps.h"
#include "names.h"

namespace fakes {
namespace {

using Filesystem = const TF_Filesystem*;

const TF_FilesystemOps& Right() { return Real().filesystem; }

// The directories that were deleted so far.
class Deleted {
 public:
  void Add(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    paths_.insert(path);
  }

  bool Has(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return paths_.count(path) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

Deleted deleted;

void Remembers(Filesystem filesystem, const char* path, TF_Status* status) {
  Right().delete_dir(filesystem, path, status);
  if (TF_GetCode(status) == TF_OK) deleted.Add(path);
}

template <void (*mishap)()>
void StumblesOverTheDeleted(Filesystem filesystem, const char* path, TF_Status* status) {
  if (deleted.Has(path)) mishap();
  Right().create_dir(filesystem, path, status);
}

template <void (*mishap)()>
void AtTheThirdStep(support::Tables& tables) {
  tables.filesystem.delete_dir = Remembers;
  tables.filesystem.create_dir = StumblesOverTheDeleted<mishap>;
}

// A copy that is the same file: right until one of the two is written to.
void CopiesByLink(Filesystem filesystem, const char* source, const char* target,
                  TF_Status* status) {
  Right().copy_file(filesystem, source, target, status);
  if (TF_GetCode(status) != TF_OK) return;
  unlink(target);
  if (link(source, target) != 0) TF_SetStatus(status, TF_INTERNAL, target);
}

// What a plugin needs is made by the ops that are called first in most processes. One op goes
// without.
std::atomic<bool> has_client{false};

template <auto op>
struct Client;

template <typename Result, typename... Arguments, Result (*TF_FilesystemOps::*op)(Arguments...)>
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
  tables.filesystem.create_dir = Client<&TF_FilesystemOps::create_dir>::Makes;
  tables.filesystem.path_exists = Client<&TF_FilesystemOps::path_exists>::Makes;
  tables.filesystem.stat = Client<&TF_FilesystemOps::stat>::Makes;
  tables.filesystem.new_writable_file = Client<&TF_FilesystemOps::new_writable_file>::Makes;
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
  using Ops = TF_FilesystemOps;
  return {
      WithoutClient<&Ops::copy_file>("copy_file"),
      WithoutClient<&Ops::rename_file>("rename_file"),
      WithoutClient<&Ops::get_children>("get_children"),
      WithoutClient<&Ops::new_random_access_file>("new_random_access_file"),
      WithoutClient<&Ops::stat>("stat"),
      {"history.crash", "create_dir crashes for a directory that was there before and was deleted",
       "every op comes back", AtTheThirdStep<Crash>},
      {"history.hang", "create_dir hangs for a directory that was there before and was deleted",
       "every op comes back", AtTheThirdStep<Hang>},
      {"history.copy-shares",
       "a copy and its original are one file: who writes to one changes both",
       "a copy is a file of its own",
       [](support::Tables& t) { t.filesystem.copy_file = CopiesByLink; }},
  };
}

}  // namespace fakes
