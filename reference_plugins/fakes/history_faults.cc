// Faults that take several ops to show: each op alone is right.

#include <unistd.h>

#include <mutex>
#include <set>
#include <string>
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

}  // namespace

std::vector<Fault> HistoryFaults() {
  return {
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
