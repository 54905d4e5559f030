// Lists of strings that env.h gives: the names in a directory, and the directories for what is
// temporary.
#include <dirent.h>

#include <string>
#include <string_view>
#include <vector>

#include "local_files.h"
#include "temporary.h"

struct TF_StringStream {
  std::vector<std::string> strings;
  size_t next = 0;
};

TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status) {
  auto* stream = new TF_StringStream;
  const auto path = tffs::LocalPath(filename, status);
  if (!path) return stream;
  DIR* directory = opendir(path->c_str());
  tffs::SetOutcome(directory != nullptr, *path, status);
  if (directory == nullptr) return stream;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") stream->strings.emplace_back(name);
  }
  closedir(directory);
  return stream;
}

TF_StringStream* TF_GetLocalTempDirectories(void) {
  return new TF_StringStream{{tffs::TemporaryDirectory()}};
}

bool TF_StringStreamNext(TF_StringStream* list, const char** result) {
  const bool more = list->next < list->strings.size();
  *result = more ? list->strings[list->next++].c_str() : nullptr;
  return more;
}

void TF_StringStreamDone(TF_StringStream* list) { delete list; }
