// One plugin in one process: what was loaded, registered and opened, and the commands of
// docs/wire.md.
#ifndef TFFS_HOST_HOST_H_
#define TFFS_HOST_HOST_H_

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "buffers.h"
#include "call.h"
#include "statuses.h"
#include "tf_filesystem_plugin.h"
#include "wire.h"

namespace tffs {

// What the host saw besides the answer; the bits stand in docs/wire.md.
constexpr int64_t kWrapperChanged = 1;
constexpr int64_t kArgumentChanged = 2;
constexpr int64_t kOverrun = 4;
constexpr int64_t kObjectSet = 8;
constexpr int64_t kSharedEntries = 16;
constexpr int64_t kNullEntry = 32;
constexpr int64_t kStatusKept = 64;
constexpr int64_t kLongMessage = 128;
constexpr int64_t kStatusReplaced = 256;
constexpr int64_t kDirectoryMoved = 512;

// The number of the filesystem whose scheme was taken.
constexpr int64_t kRefused = int64_t{1} << 32;

// A registered scheme: the host's copies of the four tables, and the filesystem.
struct Filesystem {
  std::string scheme;
  TF_FilesystemOps ops{};
  TF_RandomAccessFileOps random_access{};
  TF_WritableFileOps writable{};
  TF_ReadOnlyMemoryRegionOps region{};
  TF_Filesystem object{};
};

// An open object with the filesystem whose table it belongs to.
template <typename Object>
struct Open {
  Filesystem* filesystem;
  Object object;
};

// A descriptor of the host's that a plugin can close, or replace by another.
class HeldDescriptor {
 public:
  explicit HeldDescriptor(int number);
  // Whether it still is what it was.
  bool IsThere() const;
  int number() const { return number_; }

 private:
  const int number_;
  struct stat facts_ = {};
};

// A lock that ThreadSanitizer does not see in a host that was not compiled for it. It would take
// one of pthread's for an order of what the plugin does before and after, and tell of no race
// there.
class UnseenLock {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

// What is told of an op: the whole answer and the time that the host took for it, or the code alone
// and the time that the plugin took.
enum class Told { kAnswers, kTimes };

// Thrown by a command whose table entry is NULL; answered with `absent`.
struct Absent {};

// Thrown by an op of a program that works on what an op before it should have opened and did not;
// answered with `skipped`.
struct Skipped {};

template <typename Result, typename... Parameters>
Guarded<Result, Parameters...> Present(Result (*op)(Parameters...)) {
  if (op == nullptr) throw Absent{};
  return Guarded(op);
}

class Host {
 public:
  // The descriptors are those of the wire.
  Host(int in, int out) : in_(in), out_(out) {}

  // Performs the command of one request, and answers `bad`, `absent`, `skipped` or `threw` where
  // that ends early. Ops may be performed by several threads at once.
  Reply PerformGuarded(std::string_view command, Request& request);

  // The same name as a text that stays.
  static const char* NameOf(std::string_view command);

 private:
  Reply PerformCaught(std::string_view command, Request& request);
  // Exceptions that come out of the plugin are let through.
  Reply Perform(std::string_view command, Request& request);

  using Command = Reply (Host::*)(Request&);
  using NamedCommand = std::pair<const std::string_view, Command>;
  static const NamedCommand& Find(std::string_view command);

  // load.cc, registration.cc, state.cc, held.cc, limits.cc, threads.cc, forked.cc
  Reply Load(Request&);
  Reply File(Request&);
  Reply InitPlugin(Request&);
  Reply Describe(Request&);
  Reply Register(Request&);
  Reply Release(Request&);
  Reply Allocate(Request&);
  Reply State(Request&);
  Reply Hold(Request&);
  Reply Held(Request&);
  Reply Forked(Request&);
  Reply Preset(Request&);
  Reply Interrupt(Request&);
  Reply Allocations(Request&);
  Reply LimitFileSize(Request&);
  Reply LimitDescriptors(Request&);
  Reply Threads(Request&);
  Reply Measure(Request&);
  Reply KeepBusy(Request&);
  Reply Together(Request&, Told told);
  Reply Repeat(Request&);
  TF_FilesystemPluginOps& Entry(int64_t index);

  // filesystem_ops.cc
  Reply Cleanup(Request&);
  template <typename Object>
  Reply Create(Request&,
               void (*TF_FilesystemOps::*op)(const TF_Filesystem*, const char*, Object*,
                                             TF_Status*),
               void* Object::* field, std::map<int64_t, Open<Object>>& opened);
  Reply NewRandomAccessFile(Request&);
  Reply NewWritableFile(Request&);
  Reply NewAppendableFile(Request&);
  Reply NewReadOnlyMemoryRegion(Request&);
  using PathOp = void (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, TF_Status*);
  template <PathOp op>
  Reply ByPath(Request&);
  using TwoPathOp = void (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, const char*,
                                                TF_Status*);
  template <TwoPathOp op>
  Reply ByTwoPaths(Request&);
  Reply DeleteRecursively(Request&);
  Reply PathsExist(Request&);
  Reply Stat(Request&);
  Reply IsDirectory(Request&);
  Reply GetFileSize(Request&);
  Reply TranslateName(Request&);
  using EntriesOp = int (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*, char***,
                                               TF_Status*);
  template <EntriesOp op>
  Reply Entries(Request&);
  Reply FlushCaches(Request&);

  // file_ops.cc
  static int64_t TakeHandle(Request& request);
  template <typename Object>
  Open<Object>& Find(std::map<int64_t, Open<Object>>& opened, Request& request);
  // The object, taken out: its handle is gone.
  template <typename Object>
  Open<Object> Take(std::map<int64_t, Open<Object>>& opened, Request& request);
  Reply RandomAccessCleanup(Request&);
  Reply Read(Request&);
  Reply ReadLarge(Request&);
  Reply WritableCleanup(Request&);
  Reply Append(Request&);
  Reply Tell(Request&);
  using WritableOp = void (*TF_WritableFileOps::*)(const TF_WritableFile*, TF_Status*);
  template <WritableOp op>
  Reply OnWritable(Request&);
  Reply RegionCleanup(Request&);
  Reply Data(Request&);
  Reply Length(Request&);

  // option_ops.cc: transactions and configuration
  int64_t NumberOf(TF_TransactionToken* token);
  TF_TransactionToken* TokenOf(int64_t number);
  void ForgetToken(int64_t number);
  Reply StartTransaction(Request&);
  Reply EndTransaction(Request&);
  Reply AddToTransaction(Request&);
  using TokenOp = int (*TF_FilesystemOps::*)(const TF_Filesystem*, const char*,
                                             TF_TransactionToken**, TF_Status*);
  template <TokenOp op>
  Reply TokenByPath(Request&);
  Reply DecodeToken(Request&);
  Reply GetConfiguration(Request&);
  Reply SetConfiguration(Request&);
  Reply GetOption(Request&);
  Reply SetOption(Request&);
  Reply GetKeys(Request&);

  Filesystem& TakeFilesystem(Request& request);
  // Frees a block with the function of the plugin.
  void Free(void* block) const { Guarded(info_.plugin_memory_free)(block); }
  // A result string of the plugin, freed: i is NULL, s text.
  void ReplyString(Reply& reply, char* text);

  const HeldDescriptor in_;
  const HeldDescriptor out_;
  // The process that the host is: what a plugin forks has another number.
  pid_t process_ = getpid();
  // What the process was before the plugin came.
  Reply before_load_{"done"};
  // Those that the host has where a plugin would have its next ones.
  std::vector<HeldDescriptor> held_;
  TF_FilesystemPluginInfo info_{};
  void (*init_plugin_)(TF_FilesystemPluginInfo*) = nullptr;
  std::vector<std::unique_ptr<Filesystem>> filesystems_;
  // One whose scheme was taken, until it is cleaned up.
  std::unique_ptr<Filesystem> refused_;
  // Guards the numbers and the maps below, never an op of the plugin; entries stay where they are.
  UnseenLock handles_;
  int64_t last_handle_ = 0;
  std::map<int64_t, Open<TF_RandomAccessFile>> readers_;
  std::map<int64_t, Open<TF_WritableFile>> writers_;
  std::map<int64_t, Open<TF_ReadOnlyMemoryRegion>> regions_;
  std::map<int64_t, TF_TransactionToken*> tokens_;
  TF_TransactionToken foreign_token_{};
};

// The buffer of the thread that reads or appends.
inline thread_local GuardedBuffer guarded_buffer;

// What this thread opened last.
inline thread_local int64_t last_opened = 0;

// What each op of the present round of this thread's program opened, 0 for nothing: a program names
// what its own op number k opened by the handle -k.
inline thread_local std::vector<int64_t> opened_in_round;

// The state of the process, as the command `state` tells it.
Reply StateNow();

// Waits, for some time, until each thread that was left busy has performed its ops once more: they
// meet what the plugin's destructors left.
void AwaitBusyThreads();

// Whether the working directory is another one than when this was asked last.
bool DirectoryMoved();

// `done` with the code and message of a status (OK where there is none), and what was watched.
Reply Answer(const TF_Status* status, int64_t watch = 0);

}  // namespace tffs

#endif  // TFFS_HOST_HOST_H_
