// What texts of every kind are asked for.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TEXT_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TEXT_H_

#include <algorithm>
#include <cctype>
#include <string>

namespace objectstore {

inline std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Without the blanks at both ends.
inline std::string Trimmed(const std::string& text) {
  constexpr char kBlanks[] = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

inline bool BeginsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Whether this may be an MD5, in lower case.
inline bool LooksLikeMd5(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Whether XML has all of its characters: no others in front of the blank than tabs and ends of
// lines, and neither U+FFFE nor U+FFFF.
inline bool IsXml(const std::string& text) {
  const auto is_in_xml = [](unsigned char c) {
    return c >= ' ' || c == '\t' || c == '\n' || c == '\r';
  };
  return std::all_of(text.begin(), text.end(), is_in_xml) &&
         text.find("\xef\xbf\xbe") == std::string::npos &&
         text.find("\xef\xbf\xbf") == std::string::npos;
}

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TEXT_H_
