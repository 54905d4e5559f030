// Patterns: * and ? and [...] match no slash, and \c is c, as in fnmatch(3).

#ifndef TFFS_REFERENCE_PLUGINS_SUPPORT_GLOB_H_
#define TFFS_REFERENCE_PLUGINS_SUPPORT_GLOB_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace support {

// Where the first glob character of `text` is, or npos.
size_t FindGlobCharacter(std::string_view text);
bool HasGlobCharacter(std::string_view text);

// The tree that a pattern is matched against. Both functions give 0 or an errno value, and may
// throw.
struct GlobTree {
  // Sets `there` to whether the pattern can go on at `path`, or end there where `last` is true.
  std::function<int(const std::string& path, bool last, bool* there)> look;
  // Adds to `names` the children of `directory` with which the pattern can go on, or end where
  // `last` is true. It may leave out names that do not begin with `start`. `directory` is empty for
  // the one that relative paths start from.
  std::function<int(const std::string& directory, const std::string& start, bool last,
                    std::vector<std::string>* names)>
      list;
};

// Puts the paths of `tree` that match the whole of `pattern` into `matches`, sorted. They are clean
// paths, relative where the pattern is. Gives 0 or the first errno value.
int Glob(std::string_view pattern, const GlobTree& tree, std::vector<std::string>* matches);

}  // namespace support

#endif  // TFFS_REFERENCE_PLUGINS_SUPPORT_GLOB_H_
