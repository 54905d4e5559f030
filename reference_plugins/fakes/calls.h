// The right ops and what they get, under short names, and what most faults do with them.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_CALLS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>

#include "ops.h"
#include "posix/tables.h"
#include "tf_filesystem_plugin.h"

namespace fakes {

using Ops = TF_FilesystemOps;
using ReaderOps = TF_RandomAccessFileOps;
using WriterOps = TF_WritableFileOps;
using RegionOps = TF_ReadOnlyMemoryRegionOps;

// What ops get that do not change it.
using Filesystem = const TF_Filesystem*;
using Reader = const TF_RandomAccessFile*;
using Writer = const TF_WritableFile*;
using Region = const TF_ReadOnlyMemoryRegion*;
using Path = const char*;
using Status = TF_Status*;

// The right ops, for faults that are wrong only now and then.
inline const support::Tables& Real() {
  static const support::Tables tables = posix::AllTables();
  return tables;
}

inline const Ops& Right() { return Real().filesystem; }
inline const ReaderOps& Reading() { return Real().random_access_file; }
inline const WriterOps& Writing() { return Real().writable_file; }
inline const RegionOps& Mapping() { return Real().memory_region; }

inline bool Worked(Status status) { return TF_GetCode(status) == TF_OK; }

inline void Become(Status status, TF_Code code) {
  TF_SetStatus(status, code, code == TF_OK ? "" : "the fault says so");
}

// What read gives of a file with such content.
inline int64_t ReadOf(const std::string& content, uint64_t offset, size_t n, char* buffer,
                      Status status) {
  const size_t start = std::min<uint64_t>(offset, content.size());
  const size_t length = std::min(n, content.size() - start);
  std::memcpy(buffer, content.data() + start, length);
  TF_SetStatus(status, length == n ? TF_OK : TF_OUT_OF_RANGE, "");
  return static_cast<int64_t>(length);
}

// What works one op into the tables.
template <typename Table, typename Function>
auto With(Function Table::* entry, std::common_type_t<Function> function) {
  return [=](support::Tables& tables) { TableOf<Table>(tables).*entry = function; };
}

// What puts its own ops into a table, all of them.
template <typename Table>
auto With(const Table& table) {
  return [=](support::Tables& tables) { TableOf<Table>(tables) = table; };
}

// What works in several changes, one after the other.
template <typename... Changes>
auto Together(Changes... changes) {
  return [=](support::Tables& tables) { (changes(tables), ...); };
}

// An op that does nothing but answer.
template <TF_Code code, typename Result, typename... Arguments>
Result Answers(Arguments... arguments) {
  Become(std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...)), code);
  if constexpr (!std::is_void_v<Result>) return -1;
}

// Works it in for any op that has a status.
template <TF_Code code, typename Result, typename... Arguments>
void Answer(Result (*&entry)(Arguments...)) {
  entry = Answers<code, Result, Arguments...>;
}

// What works in the ops of readers, of regions.
inline auto WithReaders(decltype(Ops::new_random_access_file) open, decltype(ReaderOps::read) read,
                        decltype(ReaderOps::cleanup) cleanup) {
  return Together(With(&Ops::new_random_access_file, open), With(ReaderOps{cleanup, read}));
}

inline auto WithRegions(decltype(Ops::new_read_only_memory_region_from_file) open,
                        decltype(RegionOps::data) data, decltype(RegionOps::length) length,
                        decltype(RegionOps::cleanup) cleanup) {
  return Together(With(&Ops::new_read_only_memory_region_from_file, open),
                  With(RegionOps{cleanup, data, length}));
}

// Something to remember for each object the plugin gave out; a new object starts with T().
template <typename T>
class PerObject {
 public:
  // Performs `use` on what is remembered for `object`, one thread at a time, and gives what it
  // gives.
  template <typename Use>
  auto With(const void* object, Use use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(values_[object]);
  }

  T Of(const void* object) {
    return With(object, [](T& value) { return value; });
  }

  void Set(const void* object, const T& changed) {
    With(object, [&](T& value) { value = changed; });
  }

  void Forget(const void* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.erase(object);
  }

 private:
  std::mutex mutex_;
  std::map<const void*, T> values_;
};

// A cleanup after which nothing is remembered for the object.
template <auto& values, typename Object>
void Forgets(Object* object) {
  if constexpr (std::is_same_v<Object, TF_RandomAccessFile>) {
    values.Forget(object->plugin_file);
    Reading().cleanup(object);
  } else if constexpr (std::is_same_v<Object, TF_WritableFile>) {
    values.Forget(object->plugin_file);
    Writing().cleanup(object);
  } else {
    values.Forget(object->plugin_memory_region);
    Mapping().cleanup(object);
  }
}

// An op that opens a file, of whose object the path is remembered.
template <auto Entry, auto& paths, typename Object>
void Notes(Filesystem filesystem, Path path, Object* file, Status status) {
  (Right().*Entry)(filesystem, path, file, status);
  if (Worked(status)) paths.Set(file->plugin_file, path);
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_CALLS_H_
