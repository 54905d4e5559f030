#include "bucket.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "support/descriptor.h"

namespace object_store {
namespace {

// A key may be longer than a file name: it is cut into pieces, and all but the last are directories
// that end in kMore. Neither mark can stand in an encoded key.
constexpr size_t kPiece = 200;
constexpr char kMore = '+';
constexpr char kDraft = '.';

std::string Bucket() {
  const char* chosen = std::getenv("TFFS_BUCKET");
  return chosen != nullptr ? chosen : "/tmp/tffs-bucket-" + std::to_string(getuid());
}

// Byte by byte, so that a key that begins with another one does so encoded, too.
std::string Encoded(std::string_view key) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char byte : key) {
    if (std::isalnum(byte) != 0 || byte == '_' || byte == '-') {
      encoded += static_cast<char>(byte);
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

std::string Decoded(std::string_view encoded) {
  std::string key;
  for (size_t k = 0; k < encoded.size(); ++k) {
    if (encoded[k] != '%') {
      key += encoded[k];
      continue;
    }
    key += static_cast<char>(std::stoi(std::string(encoded.substr(k + 1, 2)), nullptr, 16));
    k += 2;
  }
  return key;
}

// Makes the directories that hold `file`; they may vanish again while nothing is in them.
void MakeDirectories(const std::string& file) {
  for (size_t slash = file.find('/', Bucket().size()); slash != std::string::npos;
       slash = file.find('/', slash + 1)) {
    mkdir(file.substr(0, slash).c_str(), 0700);
  }
}

// Removes what no object is in any more, the bucket included.
void RemoveDirectories(std::string file) {
  const size_t shortest = Bucket().size();
  while (file.size() > shortest) {
    file.resize(file.rfind('/'));
    if (rmdir(file.c_str()) != 0) return;
  }
}

void Collect(const std::string& directory, const std::string& before, std::string_view prefix,
             std::set<std::string>* keys) {
  DIR* listing = opendir(directory.c_str());
  if (listing == nullptr) return;
  try {
    while (const dirent* entry = readdir(listing)) {
      std::string name = entry->d_name;
      if (name.find(kDraft) != std::string::npos) continue;
      const bool more = name.back() == kMore;
      const std::string path = directory + "/" + name;
      if (more) name.pop_back();
      const std::string encoded = before + name;
      const size_t common = std::min(encoded.size(), prefix.size());
      if (encoded.compare(0, common, prefix.substr(0, common)) != 0) continue;
      if (more) {
        Collect(path, encoded, prefix, keys);
      } else if (encoded.size() >= prefix.size()) {
        keys->insert(Decoded(encoded));
      }
    }
  } catch (...) {
    closedir(listing);
    throw;
  }
  closedir(listing);
}

// Gives 0 or an errno value.
int Write(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

std::string FileOf(std::string_view key) {
  const std::string encoded = Encoded(key);
  std::string file = Bucket();
  for (size_t start = 0; start < encoded.size(); start += kPiece) {
    file += '/' + encoded.substr(start, kPiece);
    if (start + kPiece < encoded.size()) file += kMore;
  }
  return file;
}

bool Head(std::string_view key, struct stat* facts) {
  return stat(FileOf(key).c_str(), facts) == 0 && S_ISREG(facts->st_mode);
}

int Put(std::string_view key, std::string_view content) {
  static std::atomic<unsigned> drafts{0};
  const std::string file = FileOf(key);
  const std::string draft =
      Bucket() + "/" + kDraft + std::to_string(getpid()) + kDraft + std::to_string(++drafts);
  // Somebody else may remove a directory before there is something in it.
  for (int attempt = 0;; ++attempt) {
    MakeDirectories(file);
    const support::Descriptor descriptor =
        support::Descriptor::Open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    int error = descriptor.is_open() ? Write(descriptor.get(), content) : errno;
    if (error == 0 && rename(draft.c_str(), file.c_str()) != 0) error = errno;
    if (error == 0) return 0;
    unlink(draft.c_str());
    RemoveDirectories(file);
    if (error != ENOENT || attempt == 100) return error;
  }
}

int Get(std::string_view key, std::string* content) {
  const support::Descriptor descriptor = support::Descriptor::Open(FileOf(key).c_str(), O_RDONLY);
  struct stat facts;
  if (!descriptor.is_open() || fstat(descriptor.get(), &facts) != 0) return errno;
  content->resize(static_cast<size_t>(facts.st_size));
  size_t count = 0;
  while (count < content->size()) {
    const ssize_t got = read(descriptor.get(), content->data() + count, content->size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    count += static_cast<size_t>(got);
  }
  return 0;
}

int Delete(std::string_view key) {
  const std::string file = FileOf(key);
  if (unlink(file.c_str()) != 0) return errno;
  RemoveDirectories(file);
  return 0;
}

std::set<std::string> List(std::string_view prefix) {
  std::set<std::string> keys;
  Collect(Bucket(), "", Encoded(prefix), &keys);
  return keys;
}

}  // namespace object_store
