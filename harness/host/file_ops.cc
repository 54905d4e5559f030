// The ops of open files and memory regions.
#include <algorithm>

#include "host.h"

namespace tffs {

int64_t Host::TakeHandle(Request& request) {
  const int64_t number = request.TakeInteger();
  if (number >= 0) return number;
  const auto place = static_cast<uint64_t>(-(number + 1));
  if (place >= opened_in_round.size()) throw BadRequest("there is no such op before this one");
  if (opened_in_round[place] == 0) throw Skipped{};
  return opened_in_round[place];
}

template <typename Object>
Open<Object>& Host::Find(std::map<int64_t, Open<Object>>& opened, Request& request) {
  const int64_t handle = TakeHandle(request);
  const std::lock_guard lock(handles_);
  const auto found = opened.find(handle);
  if (found == opened.end()) throw BadRequest("there is no such handle");
  return found->second;
}

template <typename Object>
Open<Object> Host::Take(std::map<int64_t, Open<Object>>& opened, Request& request) {
  const int64_t handle = TakeHandle(request);
  const std::lock_guard lock(handles_);
  const auto found = opened.find(handle);
  if (found == opened.end()) throw BadRequest("there is no such handle");
  const Open<Object> object = found->second;
  opened.erase(found);
  return object;
}

Reply Host::RandomAccessCleanup(Request& request) {
  auto file = Take(readers_, request);
  Guarded(file.filesystem->random_access.cleanup)(&file.object);
  return Answer(nullptr);
}

Reply Host::Read(Request& request) {
  auto& file = Find(readers_, request);
  const uint64_t offset = request.TakeUnsigned();
  const size_t n = request.TakeUnsigned();
  const auto function = Present(file.filesystem->random_access.read);
  char* buffer = guarded_buffer.ForWriting(n);
  if (buffer == nullptr) throw Lacking("there is no memory for a buffer of that size");
  const void* before = file.object.plugin_file;
  const StatusPointer status = FreshStatus();
  const int64_t returned = function(&file.object, offset, n, buffer, status.get());
  const int64_t watch = (file.object.plugin_file != before ? kWrapperChanged : 0) |
                        (guarded_buffer.Intact() ? 0 : kOverrun);
  const size_t read = std::min(n, static_cast<size_t>(std::max<int64_t>(returned, 0)));
  return std::move(
      Answer(status.get(), watch).Integer(returned).Bytes(std::string_view(buffer, read)));
}

Reply Host::WritableCleanup(Request& request) {
  auto file = Take(writers_, request);
  Guarded(file.filesystem->writable.cleanup)(&file.object);
  return Answer(nullptr);
}

Reply Host::Append(Request& request) {
  auto& file = Find(writers_, request);
  const std::string_view data = request.TakeBytes();
  const auto function = Present(file.filesystem->writable.append);
  char* buffer = guarded_buffer.ForReading(data);
  if (buffer == nullptr) throw Lacking("there is no memory for a buffer of that size");
  const void* before = file.object.plugin_file;
  const StatusPointer status = FreshStatus();
  function(&file.object, buffer, data.size(), status.get());
  const int64_t watch = (file.object.plugin_file != before ? kWrapperChanged : 0) |
                        (std::equal(data.begin(), data.end(), buffer) ? 0 : kArgumentChanged);
  guarded_buffer.Spoil();
  return Answer(status.get(), watch);
}

Reply Host::Tell(Request& request) {
  auto& file = Find(writers_, request);
  const auto function = Present(file.filesystem->writable.tell);
  const void* before = file.object.plugin_file;
  const StatusPointer status = FreshStatus();
  const int64_t returned = function(&file.object, status.get());
  const int64_t watch = file.object.plugin_file != before ? kWrapperChanged : 0;
  return std::move(Answer(status.get(), watch).Integer(returned));
}

template <Host::WritableOp op>
Reply Host::OnWritable(Request& request) {
  auto& file = Find(writers_, request);
  const auto function = Present(file.filesystem->writable.*op);
  const void* before = file.object.plugin_file;
  const StatusPointer status = FreshStatus();
  function(&file.object, status.get());
  return Answer(status.get(), file.object.plugin_file != before ? kWrapperChanged : 0);
}

template Reply Host::OnWritable<&TF_WritableFileOps::flush>(Request&);
template Reply Host::OnWritable<&TF_WritableFileOps::sync>(Request&);
template Reply Host::OnWritable<&TF_WritableFileOps::close>(Request&);

// For reads into large buffers.
template Open<TF_RandomAccessFile>& Host::Find(std::map<int64_t, Open<TF_RandomAccessFile>>&,
                                               Request&);

Reply Host::RegionCleanup(Request& request) {
  auto region = Take(regions_, request);
  Guarded(region.filesystem->region.cleanup)(&region.object);
  return Answer(nullptr);
}

Reply Host::Data(Request& request) {
  auto& region = Find(regions_, request);
  const uint64_t offset = request.TakeUnsigned();
  const size_t n = request.TakeUnsigned();
  const void* before = region.object.plugin_memory_region;
  const auto* data =
      static_cast<const char*>(Guarded(region.filesystem->region.data)(&region.object));
  const int64_t watch = region.object.plugin_memory_region != before ? kWrapperChanged : 0;
  Reply reply = Answer(nullptr, watch);
  reply.Unsigned(reinterpret_cast<uintptr_t>(data));
  // A region that is shorter than it says ends the process here, as it ends whoever believes it.
  return std::move(
      reply.Bytes(data != nullptr ? std::string_view(data + offset, n) : std::string_view()));
}

Reply Host::Length(Request& request) {
  auto& region = Find(regions_, request);
  const void* before = region.object.plugin_memory_region;
  const uint64_t length = Guarded(region.filesystem->region.length)(&region.object);
  const int64_t watch = region.object.plugin_memory_region != before ? kWrapperChanged : 0;
  return std::move(Answer(nullptr, watch).Unsigned(length));
}

}  // namespace tffs
