// Deleting. S3 says nothing of a key that is not there, so what is there is looked at first.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "failure.h"
#include "filesystem.h"
#include "ops.h"
#include "posix/directories.h"
#include "text.h"

namespace objectstore {
namespace {

void RefuseBucket(const Name& name) {
  if (name.key.empty()) throw Failure(TF_FAILED_PRECONDITION, "a bucket is not deleted");
}

bool IsMarker(const std::string& key) { return key.back() == '/'; }

// Deletes keys, and counts those that stay.
class Sweep {
 public:
  // Of `name` nobody knows whether there is an object of that name, too.
  Sweep(const Objects& objects, Name name) : objects_(objects), name_(std::move(name)) {}

  void Delete(const std::vector<std::string>& keys) {
    for (const auto& [key, failure] : objects_.DeleteAll(name_.bucket, keys)) {
      if (key == name_.key && !objects_.Head(name_)) continue;
      ++(IsMarker(key) ? directories_ : files_);
      if (!first_) first_ = failure;
    }
  }

  uint64_t files() const { return files_; }
  uint64_t directories() const { return directories_; }
  const std::optional<Failure>& first() const { return first_; }

 private:
  const Objects& objects_;
  const Name name_;
  uint64_t files_ = 0;
  uint64_t directories_ = 0;
  std::optional<Failure> first_;  // why the first of them stays
};

// Deletes what is in a directory, of whose pages it holds two at most, and the object of its name,
// where there is one; gives whether anything was in it, and in `again` whether there was more
// than one page. What is in a directory goes before its marker, for stores that keep directories: a
// marker waits until a key comes that is not below it.
bool DeletePages(const Tree& tree, const Name& name, Sweep* sweep, bool* again) {
  std::vector<std::string> markers;  // each is below the one before
  bool found = false;
  Page page;
  Pages pages = tree.PagesOf(name);
  *again = false;
  for (bool more = pages.Next(&page); more;) {
    std::vector<std::string> keys;
    const auto leave = [&](const auto& is_left) {
      for (; !markers.empty() && is_left(markers.back()); markers.pop_back()) {
        keys.push_back(std::move(markers.back()));
      }
    };
    for (const std::string& key : std::set<std::string>(page.keys.begin(), page.keys.end())) {
      found = true;
      leave([&](const std::string& marker) { return !BeginsWith(key, marker); });
      (IsMarker(key) ? markers : keys).push_back(key);
    }
    // Nothing of this page is deleted where the next one shows that the listing is wrong.
    more = pages.Next(&page);
    if (!more) leave([](const std::string&) { return true; });
    // S3 says nothing of a key that is not there.
    if (!more && found) keys.push_back(name.key);
    *again = *again || more;
    sweep->Delete(keys);
  }
  return found;
}

// As above, until nothing is left. Stores that count instead of naming where a page begins leave
// out what moved up as the pages before it were deleted.
bool DeleteBelow(const Tree& tree, const Name& name, Sweep* sweep) {
  constexpr int kMost = 64;  // each leaves out half of what is there, at most
  bool again = false;
  const bool found = DeletePages(tree, name, sweep, &again);
  for (int k = 1; again && !sweep->first(); ++k) {
    if (k == kMost) throw Failure(TF_ABORTED, "keys come as fast as they are deleted");
    DeletePages(tree, name, sweep, &again);
  }
  return found;
}

}  // namespace

void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::DeleteFile(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    // What somebody else puts there meanwhile is not what was to be deleted.
    state->objects.Delete(name, state->tree.FileNow(name).etag);
  });
}

void DeleteDir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path))
    return posix::DeleteDir(filesystem, local, status);
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    RefuseBucket(name);
    const std::string marker = Inside(name);
    const auto keys = state->tree.KeysIn(name, 2).keys;
    if (keys.empty()) {
      if (state->objects.Head(name)) throw Failure(TF_FAILED_PRECONDITION, "this is a file");
      throw Failure(TF_NOT_FOUND, "there is no such directory");
    }
    if (keys.size() > 1 || *keys.begin() != marker) {
      throw Failure(TF_FAILED_PRECONDITION, "the directory is not empty");
    }
    state->objects.Delete({name.bucket, marker});
  });
}

void DeleteRecursively(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files,
                       uint64_t* undeleted_dirs, TF_Status* status) noexcept {
  if (const char* local = LocalPath(filesystem, path)) {
    return posix::DeleteRecursively(filesystem, local, undeleted_files, undeleted_dirs, status);
  }
  *undeleted_files = 0;
  *undeleted_dirs = 1;
  Perform(status, path, [&] {
    const auto state = Get(filesystem);
    const Name name = ObjectName(state->config, path);
    RefuseBucket(name);
    Sweep sweep(state->objects, name);
    const auto tell = [&](uint64_t more) {
      *undeleted_files = sweep.files();
      *undeleted_dirs = sweep.directories() + more;
    };
    try {
      const bool was_directory = DeleteBelow(state->tree, name, &sweep);
      if (!was_directory && !state->objects.Head(name)) {
        throw Failure(TF_NOT_FOUND, "there is no such object");
      }
      if (!was_directory) sweep.Delete({name.key});
    } catch (...) {
      tell(1);  // at least the directory itself
      throw;
    }
    tell(0);
    if (sweep.first()) throw Failure(*sweep.first());
  });
}

}  // namespace objectstore
