// Objects as files of one local directory, for tests without a network.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "bucket.h"
#include "support/descriptor.h"

namespace objectstore_minimal {
namespace {

// A key may be longer than a file name: it is cut into pieces, and all but the last are directories
// that end in kMore. Neither mark can stand in an encoded key.
constexpr size_t kPiece = 200;
constexpr char kMore = '+';
constexpr char kDraft = '.';
constexpr char kInNames[] = "_-";

Facts FactsOf(const struct stat& found) {
  const int64_t mtime = int64_t{found.st_mtim.tv_sec} * 1000000000 + found.st_mtim.tv_nsec;
  return {static_cast<uint64_t>(found.st_size), mtime,
          std::to_string(found.st_ino) + "-" + std::to_string(mtime)};
}

// Gives 0 or an errno value.
int Write(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    // No room is no room, whatever the limit: EFBIG would become OUT_OF_RANGE.
    if (written < 0) return errno == EFBIG ? ENOSPC : errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

class DirectoryBucket final : public Bucket {
 public:
  explicit DirectoryBucket(const std::string& path) : path_(path) {}

  std::optional<Facts> Head(const std::string& key) const override {
    struct stat found = {};
    if (stat(FileOf(key).c_str(), &found) != 0 && errno != ENOENT) Refuse(errno);
    return S_ISREG(found.st_mode) ? std::optional(FactsOf(found)) : std::nullopt;
  }

  std::string Get(const std::string& key, const Facts& facts, uint64_t offset,
                  size_t n) const override {
    const auto file = support::Descriptor::Open(FileOf(key).c_str(), O_RDONLY);
    struct stat found;
    if (!file.is_open() || fstat(file.get(), &found) != 0) Refuse(errno);
    if (FactsOf(found).version != facts.version) throw Failure(TF_ABORTED, "it was replaced");
    std::string content(n, '\0');
    for (size_t count = 0; count < n;) {
      const ssize_t got =
          pread(file.get(), content.data() + count, n - count, static_cast<off_t>(offset + count));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) Refuse(got < 0 ? errno : EIO);
      count += static_cast<size_t>(got);
    }
    return content;
  }

  void Put(const std::string& key, const std::string& content) const override {
    Replace(key, content, false);
  }

  void Delete(const std::string& key) const override {
    const std::string file = FileOf(key);
    if (unlink(file.c_str()) != 0) Refuse(errno);
    RemoveDirectories(file);
  }

  std::set<std::string> List(const std::string& prefix, size_t most) const override {
    std::set<std::string> keys;
    Collect(path_, "", Encoded(prefix, kInNames), &keys);
    while (keys.size() > most) keys.erase(--keys.end());
    return keys;
  }

  void Copy(const std::string& source, const std::string& target) const override {
    const auto facts = Head(source);
    if (!facts) Refuse(ENOENT);
    Replace(target, Get(source, *facts, 0, facts->size), true);
  }

 private:
  // Not all stores copy in one step. So that nobody who tries something here relies on it, nothing
  // is at the target of a copy for a moment (`gap`).
  void Replace(const std::string& key, const std::string& content, bool gap) const {
    static std::atomic<unsigned> drafts{0};
    const std::string file = FileOf(key);
    const std::string draft =
        path_ + "/" + kDraft + std::to_string(getpid()) + kDraft + std::to_string(++drafts);
    // Somebody else may remove a directory before there is something in it.
    for (int attempt = 0;; ++attempt) {
      std::error_code ignored;
      mkdir(path_.c_str(), 0700);
      std::filesystem::create_directories(file.substr(0, file.rfind('/')), ignored);
      const auto descriptor =
          support::Descriptor::Open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
      int error = descriptor.is_open() ? Write(descriptor.get(), content) : errno;
      if (error == 0 && gap && unlink(file.c_str()) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (error == 0 && rename(draft.c_str(), file.c_str()) != 0) error = errno;
      if (error == 0) return;
      unlink(draft.c_str());
      RemoveDirectories(file);
      if (error != ENOENT || attempt == 100) Refuse(error);
    }
  }

  std::string FileOf(const std::string& key) const {
    const std::string encoded = Encoded(key, kInNames);
    std::string file = path_;
    for (size_t start = 0; start < encoded.size(); start += kPiece) {
      file += '/' + encoded.substr(start, kPiece);
      if (start + kPiece < encoded.size()) file += kMore;
    }
    return file;
  }

  // Removes what no object is in any more, the bucket included.
  void RemoveDirectories(std::string file) const {
    while (file.size() > path_.size()) {
      file.resize(file.rfind('/'));
      if (rmdir(file.c_str()) != 0) return;
    }
  }

  static void Collect(const std::string& directory, const std::string& before,
                      std::string_view prefix, std::set<std::string>* keys) {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(directory.c_str()), closedir);
    if (listing == nullptr && errno != ENOENT) Refuse(errno);
    while (listing != nullptr) {
      errno = 0;
      const dirent* entry = readdir(listing.get());
      if (entry == nullptr) return errno == 0 ? void() : Refuse(errno);
      std::string name = entry->d_name;
      if (name.find(kDraft) != std::string::npos) continue;
      const bool more = name.back() == kMore;
      if (more) name.pop_back();
      const std::string encoded = before + name;
      const size_t common = std::min(encoded.size(), prefix.size());
      if (encoded.compare(0, common, prefix.substr(0, common)) != 0) continue;
      if (more) Collect(directory + "/" + entry->d_name, encoded, prefix, keys);
      if (!more && encoded.size() >= prefix.size()) keys->insert(Decoded(encoded));
    }
  }

  const std::string path_;
};

}  // namespace

std::shared_ptr<const Bucket> OpenDirectory(const std::string& path) {
  return std::make_shared<DirectoryBucket>(path);
}

}  // namespace objectstore_minimal
