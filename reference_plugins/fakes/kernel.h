// Files as the kernel has them, past the ops. What gives an int gives 0 or an errno value.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_KERNEL_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_KERNEL_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace fakes {

inline bool IsDirectory(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

inline bool IsFile(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

// 0 for what is no file.
inline off_t SizeOf(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : 0;
}

// The content of a file; nothing for what is none.
inline std::string Whole(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

inline int Put(int descriptor, const std::string& data) {
  for (size_t done = 0; done < data.size();) {
    const ssize_t taken = write(descriptor, data.data() + done, data.size() - done);
    if (taken < 0) return errno;
    done += static_cast<size_t>(taken);
  }
  return 0;
}

// Writes a file in place: for a moment there is nothing in it.
inline int PutInPlace(const std::string& path, const std::string& data) {
  const int descriptor = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  const int error = Put(descriptor, data);
  close(descriptor);
  return error;
}

inline int Get(const std::string& path, std::string* data) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  char buffer[4096];
  ssize_t got;
  while ((got = read(descriptor, buffer, sizeof buffer)) > 0)
    data->append(buffer, static_cast<size_t>(got));
  const int error = got < 0 ? errno : 0;
  close(descriptor);
  return error;
}

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_KERNEL_H_
