#include "support/glob.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "support/paths.h"

namespace support {
namespace {

// Adds to `below` the paths below `directory` that match one component of the pattern.
int MatchComponent(const std::string& directory, const std::string& component, bool last,
                   const GlobTree& tree, std::vector<std::string>* below) {
  const bool is_stem = directory.empty() || directory.back() == '/';
  const std::string stem = is_stem ? directory : directory + "/";
  const size_t glob = FindGlobCharacter(component);
  if (glob == std::string::npos) {
    bool there = false;
    const int error = tree.look(stem + component, last, &there);
    if (there) below->push_back(stem + component);
    return error;
  }
  std::vector<std::string> names;
  const int error = tree.list(directory, component.substr(0, glob), last, &names);
  for (const std::string& name : names) {
    if (fnmatch(component.c_str(), name.c_str(), 0) == 0) below->push_back(stem + name);
  }
  return error;
}

}  // namespace

size_t FindGlobCharacter(std::string_view text) { return text.find_first_of("*?[\\"); }

bool HasGlobCharacter(std::string_view text) {
  return FindGlobCharacter(text) != std::string_view::npos;
}

int Glob(std::string_view pattern, const GlobTree& tree, std::vector<std::string>* matches) {
  const std::vector<std::string_view> components = Components(pattern);
  *matches = {!pattern.empty() && pattern.front() == '/' ? "/" : ""};
  for (size_t level = 0; level < components.size(); ++level) {
    const std::string component(components[level]);
    const bool last = level + 1 == components.size();
    std::vector<std::string> below;
    for (const std::string& directory : *matches) {
      const int error = MatchComponent(directory, component, last, tree, &below);
      if (error != 0) return error;
    }
    *matches = std::move(below);
  }
  std::sort(matches->begin(), matches->end());
  return 0;
}

}  // namespace support
