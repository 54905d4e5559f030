// The commands by their names.
#include "crash.h"
#include "host.h"

namespace tffs {

const Host::NamedCommand& Host::Find(std::string_view command) {
  using Fs = TF_FilesystemOps;
  using File = TF_WritableFileOps;
  // Threads may still ask when the process ends.
  static const auto& commands = *new std::map<std::string_view, Command>{
      {"load", &Host::Load},
      {"file", &Host::File},
      {"init_plugin", &Host::InitPlugin},
      {"describe", &Host::Describe},
      {"register", &Host::Register},
      {"release", &Host::Release},
      {"allocate", &Host::Allocate},
      {"state", &Host::State},
      {"hold", &Host::Hold},
      {"held", &Host::Held},
      {"forked", &Host::Forked},
      {"preset", &Host::Preset},
      {"interrupt", &Host::Interrupt},
      {"allocations", &Host::Allocations},
      {"limit_file_size", &Host::LimitFileSize},
      {"limit_descriptors", &Host::LimitDescriptors},
      {"threads", &Host::Threads},
      {"measure", &Host::Measure},
      {"keep_busy", &Host::KeepBusy},
      {"repeat", &Host::Repeat},
      {"cleanup", &Host::Cleanup},
      {"new_random_access_file", &Host::NewRandomAccessFile},
      {"new_writable_file", &Host::NewWritableFile},
      {"new_appendable_file", &Host::NewAppendableFile},
      {"new_read_only_memory_region_from_file", &Host::NewReadOnlyMemoryRegion},
      {"create_dir", &Host::ByPath<&Fs::create_dir>},
      {"recursively_create_dir", &Host::ByPath<&Fs::recursively_create_dir>},
      {"delete_file", &Host::ByPath<&Fs::delete_file>},
      {"delete_dir", &Host::ByPath<&Fs::delete_dir>},
      {"delete_recursively", &Host::DeleteRecursively},
      {"rename_file", &Host::ByTwoPaths<&Fs::rename_file>},
      {"copy_file", &Host::ByTwoPaths<&Fs::copy_file>},
      {"path_exists", &Host::ByPath<&Fs::path_exists>},
      {"paths_exist", &Host::PathsExist},
      {"stat", &Host::Stat},
      {"is_directory", &Host::IsDirectory},
      {"get_file_size", &Host::GetFileSize},
      {"translate_name", &Host::TranslateName},
      {"get_children", &Host::Entries<&Fs::get_children>},
      {"get_matching_paths", &Host::Entries<&Fs::get_matching_paths>},
      {"flush_caches", &Host::FlushCaches},
      {"random_access_file.cleanup", &Host::RandomAccessCleanup},
      {"read", &Host::Read},
      {"read_large", &Host::ReadLarge},
      {"writable_file.cleanup", &Host::WritableCleanup},
      {"append", &Host::Append},
      {"tell", &Host::Tell},
      {"flush", &Host::OnWritable<&File::flush>},
      {"sync", &Host::OnWritable<&File::sync>},
      {"close", &Host::OnWritable<&File::close>},
      {"read_only_memory_region.cleanup", &Host::RegionCleanup},
      {"data", &Host::Data},
      {"length", &Host::Length},
      {"start_transaction", &Host::StartTransaction},
      {"end_transaction", &Host::EndTransaction},
      {"add_to_transaction", &Host::AddToTransaction},
      {"get_transaction_for_path", &Host::TokenByPath<&Fs::get_transaction_for_path>},
      {"get_or_start_transaction_for_path",
       &Host::TokenByPath<&Fs::get_or_start_transaction_for_path>},
      {"decode_transaction_token", &Host::DecodeToken},
      {"get_filesystem_configuration", &Host::GetConfiguration},
      {"set_filesystem_configuration", &Host::SetConfiguration},
      {"get_filesystem_configuration_option", &Host::GetOption},
      {"set_filesystem_configuration_option", &Host::SetOption},
      {"get_filesystem_configuration_keys", &Host::GetKeys},
  };
  const auto found = commands.find(command);
  if (found == commands.end()) throw BadRequest("there is no such command");
  return *found;
}

const char* Host::NameOf(std::string_view command) { return Find(command).first.data(); }

Reply Host::Perform(std::string_view command, Request& request) {
  const auto& [name, function] = Find(command);
  running_op = name.data();
  return (this->*function)(request);
}

}  // namespace tffs
