// Log lines go to standard error, which the client of a host collects for the report.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tf_filesystem_plugin.h"

namespace {

// One line and one write, so that lines of several threads do not mix.
void Write(const char* level, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) + 1 : 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  text.pop_back();
  std::string line = std::string("[TF_Log ") + level + "] ";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte != 0x7f) {
      line += character;
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    line += escaped;
  }
  line += '\n';
  // Nobody is left to tell where standard error is closed.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void TF_Log(TF_LogLevel level, const char* format, ...) {
  static const char* const kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  const bool known = level >= TF_INFO && level <= TF_FATAL;
  va_list arguments;
  va_start(arguments, format);
  Write(known ? kNames[level] : "?", format, arguments);
  va_end(arguments);
  if (level == TF_FATAL) std::abort();
}

// Verbose lines are dropped unless they are meant to be seen by everybody.
void TF_VLog(int level, const char* format, ...) {
  if (level > 0) return;
  va_list arguments;
  va_start(arguments, format);
  Write("VLOG", format, arguments);
  va_end(arguments);
}

void TF_DVLog(int level, const char* format, ...) {
  if (level > 0) return;
  va_list arguments;
  va_start(arguments, format);
  Write("DVLOG", format, arguments);
  va_end(arguments);
}
