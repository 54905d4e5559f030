// Many threads of one process read and write objects of one plugin for a while. Every byte that is
// read is compared with what writers wrote. Prints a line a second, as JSON, and one more when all
// is closed. Arguments: the plugin, a URI of a directory, seconds, readers, writers, objects, and
// the most bytes of an object.
//
// An object is a header and numbers that follow from it: its key and its version. Versions of a key
// only grow, for one thread writes it. A read has to give one version, no older than the one that
// was acknowledged when the file was opened.
#include "soak.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tf_filesystem_plugin.h"

namespace soak {
namespace {

using Clock = std::chrono::steady_clock;

TF_FilesystemPluginInfo info;
TF_Filesystem filesystem;
Tally tally;

class User {
 public:
  User(Setting* setting, unsigned seed) : setting_(*setting), random_(seed) {
    // All that a thread ever needs, now: what grows later is the plugin's.
    for (std::vector<char>* buffer : {&buffer_, &expected_}) {
      buffer->assign(setting->most + setting->keys.size(), 'x');
    }
  }
  ~User() { TF_DeleteStatus(status_); }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  void Read() {
    const size_t key = random_() % setting_.keys.size();
    const uint64_t oldest = setting_.keys[key].oldest;
    const std::string path = setting_.Path(key);
    TF_RandomAccessFile file{};
    info.ops->filesystem_ops->new_random_access_file(&filesystem, path.c_str(), &file, status_);
    if (!Did("open")) return;
    uint64_t version = 0;
    if (Piece(file, key, 0, 8, &version)) {
      if (version < oldest || version > setting_.keys[key].begun || version == 0) {
        tally.Wrong(path + ": version " + std::to_string(version) + " of " +
                    std::to_string(oldest) + " to " + std::to_string(setting_.keys[key].begun));
      } else if (random_() % 2 == 0) {
        FromFrontToBack(file, key, version);
      } else {
        HereAndThere(file, key, version);
      }
    }
    info.ops->random_access_file_ops->cleanup(&file);
  }

  void Map() {
    const size_t key = random_() % setting_.keys.size();
    const std::string path = setting_.Path(key);
    TF_ReadOnlyMemoryRegion region{};
    info.ops->filesystem_ops->new_read_only_memory_region_from_file(&filesystem, path.c_str(),
                                                                    &region, status_);
    if (!Did("map")) return;
    const auto* ops = info.ops->read_only_memory_region_ops;
    const uint64_t length = ops->length(&region);
    uint64_t version = 0;
    std::memcpy(&version, ops->data(&region), 8);
    version ^= Mixed(key);
    if (length != setting_.Size(key)) tally.Wrong(path + ": a map of another length");
    Compare(key, version, 0, length, static_cast<const char*>(ops->data(&region)));
    ops->cleanup(&region);
  }

  void Ask() {
    const size_t key = random_() % setting_.keys.size();
    TF_FileStatistics facts{};
    info.ops->filesystem_ops->stat(&filesystem, setting_.Path(key).c_str(), &facts, status_);
    if (Did("stat") && facts.length != static_cast<int64_t>(setting_.Size(key))) {
      tally.Wrong(setting_.Path(key) + ": another length");
    }
  }

  // The next version of this key.
  bool Write(size_t key) {
    const std::string path = setting_.Path(key);
    Key& known = setting_.keys[key];
    const uint64_t version = ++known.begun;
    buffer_.resize(setting_.Size(key));
    Make(key, version, 0, buffer_.size(), buffer_.data());
    TF_WritableFile file{};
    info.ops->filesystem_ops->new_writable_file(&filesystem, path.c_str(), &file, status_);
    if (!Did("create")) return false;  // nothing was sent
    const auto* ops = info.ops->writable_file_ops;
    const size_t half = buffer_.size() / 2;
    ops->append(&file, buffer_.data(), half, status_);
    bool done = Did("append");
    ops->append(&file, buffer_.data() + half, buffer_.size() - half, status_);
    done = Did("append") && done;
    ops->close(&file, status_);
    done = Did("close") && done;
    ops->cleanup(&file);
    if (!done) known.may_come = true;
    if (!known.may_come) known.oldest = version;
    return done;
  }

 private:
  bool Did(const char* op) {
    if (TF_GetCode(status_) == TF_OK) {
      tally.Add(op);
      return true;
    }
    tally.Error(op, status_);
    return false;
  }

  void Compare(size_t key, uint64_t version, uint64_t offset, size_t n, const char* got) {
    expected_.resize(n);
    Make(key, version, offset, n, expected_.data());
    if (std::memcmp(got, expected_.data(), n) == 0) return;
    size_t at = 0;
    while (got[at] == expected_[at]) ++at;
    tally.Wrong(setting_.Path(key) + ": another byte at " + std::to_string(offset + at) + " of " +
                std::to_string(setting_.Size(key)) + ", version " + std::to_string(version));
  }

  // Reads `n` bytes, as far as the object has them, and compares them with `version`; where that is
  // 0 they are eight and tell it.
  bool Piece(const TF_RandomAccessFile& file, size_t key, uint64_t offset, size_t n,
             uint64_t* version) {
    const uint64_t size = setting_.Size(key);
    const size_t there =
        offset >= size ? 0 : static_cast<size_t>(std::min<uint64_t>(n, size - offset));
    buffer_.assign(n, 'x');
    const int64_t got =
        info.ops->random_access_file_ops->read(&file, offset, n, buffer_.data(), status_);
    const TF_Code code = TF_GetCode(status_);
    if (code != TF_OK && code != TF_OUT_OF_RANGE) return Did("read");
    tally.Add("read");
    if (got != static_cast<int64_t>(there) || (code == TF_OK) != (there == n)) {
      tally.Wrong(setting_.Path(key) + ": a read of " + std::to_string(n) + " at " +
                  std::to_string(offset) + " gave " + std::to_string(got));
      return false;
    }
    if (*version == 0) {
      std::memcpy(version, buffer_.data(), 8);
      *version ^= Mixed(key);
      return true;
    }
    Compare(key, *version, offset, there, buffer_.data());
    return true;
  }

  void FromFrontToBack(const TF_RandomAccessFile& file, size_t key, uint64_t version) {
    constexpr size_t kPiece = 256 << 10;
    for (uint64_t offset = 0; offset <= setting_.Size(key); offset += kPiece) {
      if (!Piece(file, key, offset, kPiece, &version)) return;
    }
  }

  void HereAndThere(const TF_RandomAccessFile& file, size_t key, uint64_t version) {
    for (int k = 0; k < 8; ++k) {
      const uint64_t offset = random_() % setting_.Size(key);
      if (!Piece(file, key, offset, 1 + random_() % 8192, &version)) return;
    }
  }

  Setting& setting_;
  std::minstd_rand random_;
  TF_Status* status_ = TF_NewStatus();
  std::vector<char> buffer_;
  std::vector<char> expected_;
};

int Entries(const char* directory) {
  int count = 0;
  DIR* entries = opendir(directory);
  while (readdir(entries) != nullptr) ++count;
  closedir(entries);
  return count - 2;  // . and ..
}

long Resident() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void Tell(double seconds) {
  // The walk itself holds a descriptor.
  std::printf(
      "{\"seconds\": %.1f, \"descriptors\": %d, \"threads\": %d, \"resident\": %ld, \"ops\": %s}\n",
      seconds, Entries("/proc/self/fd") - 1, Entries("/proc/self/task"), Resident(),
      tally.Json().c_str());
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc != 8) return 2;
  const double seconds = std::atof(argv[3]);
  const int readers = std::atoi(argv[4]);
  const size_t writers = static_cast<size_t>(std::atoi(argv[5]));
  Setting setting(argv[2], static_cast<size_t>(std::atoi(argv[6])),
                  static_cast<uint64_t>(std::atoll(argv[7])));
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"))(&info);
  TF_Status* status = TF_NewStatus();
  Tell(0);
  info.ops->filesystem_ops->init(&filesystem, status);
  if (TF_GetCode(status) != TF_OK) {
    std::fprintf(stderr, "%s\n", TF_Message(status));
    return 1;
  }

  std::vector<std::thread> threads;
  for (size_t k = 0; k < writers; ++k) {
    threads.emplace_back([&, k] {
      User user(&setting, static_cast<unsigned>(k + 1));
      // Each key has one writer. All are there before the first is read.
      for (size_t key = k; key < setting.keys.size(); key += writers) {
        while (!user.Write(key)) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  std::printf("filled\n");
  std::fflush(stdout);

  const Clock::time_point begun = Clock::now();
  for (size_t k = 0; k < writers; ++k) {
    threads.emplace_back([&, k] {
      User user(&setting, static_cast<unsigned>(k + 1001));
      std::minstd_rand random(static_cast<unsigned>(k + 1));
      while (!setting.is_over) {
        const size_t key = k + writers * (random() % (setting.keys.size() / writers));
        user.Write(key);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  for (int k = 0; k < readers; ++k) {
    threads.emplace_back([&, k] {
      User user(&setting, static_cast<unsigned>(k + 2001));
      for (int round = 0; !setting.is_over; ++round) {
        round % 8 == 6 ? user.Map() : round % 8 == 7 ? user.Ask() : user.Read();
      }
    });
  }
  for (;;) {
    const std::chrono::duration<double> since = Clock::now() - begun;
    if (since.count() >= seconds) break;
    Tell(since.count());
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  setting.is_over = true;
  for (std::thread& thread : threads) thread.join();
  info.ops->filesystem_ops->flush_caches(&filesystem);
  info.ops->filesystem_ops->cleanup(&filesystem);
  Tell(seconds);
  TF_DeleteStatus(status);
  return 0;
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) { return soak::Main(argc, argv); }
