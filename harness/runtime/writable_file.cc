// Files of env.h that are written to.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "local_files.h"

struct TF_WritableFileHandle {
  std::string path;
  FILE* file;
};

void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle, TF_Status* status) {
  const auto path = tffs::LocalPath(filename, status);
  if (!path) return;
  FILE* file = std::fopen(path->c_str(), "we");
  tffs::SetOutcome(file != nullptr, *path, status);
  if (file != nullptr) *handle = new TF_WritableFileHandle{*path, file};
}

void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length,
                           TF_Status* status) {
  const bool written = std::fwrite(data, 1, length, handle->file) == length;
  tffs::SetOutcome(written, handle->path, status);
}

void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  tffs::SetOutcome(std::fflush(handle->file) == 0, handle->path, status);
}

void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  const bool synced = std::fflush(handle->file) == 0 && fsync(fileno(handle->file)) == 0;
  // What is no file of a disk cannot be synced, and needs not be.
  tffs::SetOutcome(synced || errno == EINVAL, handle->path, status);
}

void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  tffs::SetOutcome(std::fclose(handle->file) == 0, handle->path, status);
  delete handle;
}
