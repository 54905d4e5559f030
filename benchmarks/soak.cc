// Threads of one process read and write objects through a plugin until the time is over. Arguments:
// the plugin, a URI of a directory, seconds, readers, writers, objects, and bytes of the largest
// object. Prints "filled" when all objects exist, and a line of JSON at the end.
//
// The words of an object follow from its key, its version and their place. One thread writes a key,
// so its versions grow. A read has to give one version, none older than what was acknowledged when
// the file was opened.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin.h"

namespace {

struct Key {
  std::atomic<uint64_t> begun{0};   // the last version that was tried to be written
  std::atomic<uint64_t> oldest{0};  // no older version may be read
  // A write that failed may take effect after later ones: then an older version is right.
  std::atomic<bool> has_lost_write{false};
};

std::string root;
std::vector<Key> keys;
size_t largest_words = 0;
std::atomic<size_t> filled{0};  // objects that exist
std::atomic<bool> is_over{false};

std::string PathOf(size_t key) { return root + "/" + std::to_string(key); }

// Small objects are many, large ones few.
size_t WordsOf(size_t key) { return std::max<size_t>(125, largest_words >> (key % 10)) + key; }

uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The first word tells the version.
uint64_t WordOf(size_t key, uint64_t version, size_t index) {
  return index == 0 ? version ^ Mixed(key) : Mixed(version ^ Mixed(key) ^ index);
}

std::mutex mutex;
std::map<std::string, uint64_t> counts;  // by op and code
uint64_t wrong_answers = 0;

bool Succeeded(const std::string& op, bool is_end_of_file_right = false) {
  const TF_Code code = TF_GetCode(status);
  const bool is_right = code == TF_OK || (is_end_of_file_right && code == TF_OUT_OF_RANGE);
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string name = op + " " + std::to_string(is_right ? TF_OK : code);
  if (++counts[name] == 1 && !is_right) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), TF_Message(status));
  }
  return is_right;
}

void Wrong(size_t key, const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (++wrong_answers <= 20) std::fprintf(stderr, "%s: %s\n", PathOf(key).c_str(), what.c_str());
}

void Compare(size_t key, uint64_t version, size_t first, const std::vector<uint64_t>& words) {
  for (size_t k = 0; k < words.size(); ++k) {
    if (words[k] != WordOf(key, version, first + k)) {
      return Wrong(key, "another word at " + std::to_string(first + k) + " in version " +
                            std::to_string(version));
    }
  }
}

// The words from `first` on, at most `count`; none if the read failed.
std::vector<uint64_t> Words(const TF_RandomAccessFile& file, size_t key, size_t first,
                            size_t count) {
  std::vector<uint64_t> words(count);
  const int64_t got = info.ops->random_access_file_ops->read(
      &file, first * 8, count * 8, reinterpret_cast<char*>(words.data()), status);
  if (!Succeeded("read", true)) return {};
  const size_t there = std::min(count, WordsOf(key) - first);
  if (got != static_cast<int64_t>(there * 8) || (TF_GetCode(status) == TF_OK) != (there == count)) {
    Wrong(key, "a read at word " + std::to_string(first) + " gave " + std::to_string(got));
    return {};
  }
  words.resize(there);
  return words;
}

void Read(size_t key, std::minstd_rand* random) {
  constexpr size_t kMaxWords = 32 << 10;
  const uint64_t oldest = std::max<uint64_t>(keys[key].oldest, 1);
  TF_RandomAccessFile file{};
  info.ops->filesystem_ops->new_random_access_file(&filesystem, PathOf(key).c_str(), &file, status);
  if (!Succeeded("open")) return;
  const std::vector<uint64_t> begin = Words(file, key, 0, 1);
  if (!begin.empty()) {
    const uint64_t version = begin[0] ^ Mixed(key);
    if (version < oldest || version > keys[key].begun) {
      Wrong(key, "version " + std::to_string(version) + " and not " + std::to_string(oldest));
    }
    size_t first = (*random)() % 2 == 0 ? 0 : (*random)() % WordsOf(key);
    for (int piece = 0; piece < 16; ++piece) {
      const size_t count = 1 + (*random)() % kMaxWords;
      Compare(key, version, first, Words(file, key, first, count));
      first = (first + count) % WordsOf(key);
    }
  }
  info.ops->random_access_file_ops->cleanup(&file);
}

void Map(size_t key) {
  TF_ReadOnlyMemoryRegion region{};
  info.ops->filesystem_ops->new_read_only_memory_region_from_file(&filesystem, PathOf(key).c_str(),
                                                                  &region, status);
  if (!Succeeded("map")) return;
  const auto* ops = info.ops->read_only_memory_region_ops;
  const uint64_t length = ops->length(&region);
  if (length != WordsOf(key) * 8) Wrong(key, "a region of " + std::to_string(length) + " bytes");
  std::vector<uint64_t> words(length / 8);
  std::memcpy(words.data(), ops->data(&region), words.size() * 8);
  if (!words.empty()) Compare(key, words[0] ^ Mixed(key), 0, words);
  ops->cleanup(&region);
}

// Writes the next version of a key, which no other thread writes.
bool Write(size_t key) {
  const uint64_t version = ++keys[key].begun;
  std::vector<uint64_t> words(WordsOf(key));
  for (size_t k = 0; k < words.size(); ++k) words[k] = WordOf(key, version, k);
  TF_WritableFile file{};
  info.ops->filesystem_ops->new_writable_file(&filesystem, PathOf(key).c_str(), &file, status);
  if (!Succeeded("create")) return false;  // nothing was sent
  const auto* ops = info.ops->writable_file_ops;
  ops->append(&file, reinterpret_cast<const char*>(words.data()), words.size() * 8, status);
  bool is_done = Succeeded("append");
  ops->close(&file, status);
  is_done = Succeeded("close") && is_done;
  ops->cleanup(&file);
  if (!is_done) keys[key].has_lost_write = true;
  if (!keys[key].has_lost_write) keys[key].oldest = version;
  return is_done;
}

long Entries(const char* directory) {
  const std::filesystem::directory_iterator all(directory);
  return std::distance(begin(all), end(all));
}

// What the process has open, as JSON.
std::string Open() {
  return "{\"descriptors\": " + std::to_string(Entries("/proc/self/fd")) +
         ", \"threads\": " + std::to_string(Entries("/proc/self/task")) + "}";
}

void FillAndWrite(size_t writer, size_t writers) {
  for (size_t key = writer; key < keys.size(); key += writers) {
    while (!Write(key)) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ++filled;
  }
  std::minstd_rand random(static_cast<unsigned>(writer + 1));
  while (!is_over) {
    Write(writer + writers * (random() % (keys.size() / writers)));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void ReadAndMap(size_t reader) {
  while (filled < keys.size()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::minstd_rand random(static_cast<unsigned>(reader + 1001));
  while (!is_over) {
    const size_t key = random() % keys.size();
    random() % 8 == 0 ? Map(key) : Read(key, &random);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  root = argv[2];
  const int seconds = std::atoi(argv[3]);
  const size_t readers = std::stoul(argv[4]);
  const size_t writers = std::stoul(argv[5]);
  keys = std::vector<Key>(std::stoul(argv[6]));
  largest_words = std::stoul(argv[7]) / 8;
  const std::string before = Open();
  Load(argv[1]);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < writers; ++k) threads.emplace_back(FillAndWrite, k, writers);
  for (size_t k = 0; k < readers; ++k) threads.emplace_back(ReadAndMap, k);
  while (filled < keys.size()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::printf("filled\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  info.ops->filesystem_ops->cleanup(&filesystem);
  std::printf("{\"wrong\": %lu, \"before\": %s, \"after\": %s, \"ops\": {", wrong_answers,
              before.c_str(), Open().c_str());
  const char* separator = "";
  for (const auto& [name, count] : counts) {
    std::printf("%s\"%s\": %lu", std::exchange(separator, ", "), name.c_str(), count);
  }
  std::printf("}}\n");
  return 0;
}
