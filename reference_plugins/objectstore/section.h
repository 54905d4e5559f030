// One object of the configuration: its values, with what they have to be.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SECTION_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SECTION_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace objectstore {

using Json = nlohmann::json;

// Throws Failure, INVALID_ARGUMENT, which says of the key why it cannot be.
[[noreturn]] void Refuse(const std::string& key, const std::string& why);

// The values of one JSON object. Each is taken out under its name; what is left over in the end is
// a key nobody knows, most likely a misspelt one.
class Section {
 public:
  // `name` is empty for the whole file, and "object_storage." for what is in there.
  Section(const Json& object, std::string name) : name_(std::move(name)) {
    if (!object.is_object()) {
      Refuse(name_.empty() ? "of the file" : name_, "is not an object in braces");
    }
    left_ = object;
  }

  void Text(const char* key, std::string* value) {
    Take(key, &Json::is_string, "is not a text", [&](const Json& json) { *value = json; });
  }

  // A key that also has another name.
  void Text(const char* key, const char* alias, std::string* value) {
    if (left_.contains(key) && left_.contains(alias)) {
      Refuse(name_ + key, "is given twice, as " + std::string(alias) + " too");
    }
    Text(key, value);
    Text(alias, value);
  }

  void Flag(const char* key, bool* value) {
    Take(key, &Json::is_boolean, "is not true or false", [&](const Json& json) { *value = json; });
  }

  template <typename Number>
  void Count(const char* key, Number least, Number most, Number* value) {
    Take(key, &Json::is_number_unsigned, "is not a whole number, 0 or more", [&](const Json& json) {
      const auto number = json.get<uint64_t>();
      if (number < static_cast<uint64_t>(least) || number > static_cast<uint64_t>(most)) {
        Refuse(name_ + key,
               "is not between " + std::to_string(least) + " and " + std::to_string(most));
      }
      *value = static_cast<Number>(number);
    });
  }

  // 0 or more, perhaps a fraction.
  void Seconds(const char* key, double most, double* value) {
    Take(key, &Json::is_number, "is no number of seconds", [&](const Json& json) {
      *value = json;
      if (*value < 0 || *value > most) {
        Refuse(name_ + key, "is not between 0 and " + std::to_string(std::lround(most)));
      }
    });
  }

  void Take(const char* key, bool (Json::*fits)() const noexcept, const char* otherwise,
            const std::function<void(const Json&)>& use) {
    const auto found = left_.find(key);
    if (found == left_.end()) return;
    if (!((*found).*fits)()) Refuse(name_ + key, otherwise);
    use(*found);
    left_.erase(found);
  }

  void End() const {
    if (!left_.empty()) Refuse(name_ + left_.begin().key(), "is not known");
  }

 private:
  std::string name_;
  Json left_;
};

// An address is http or https, a host, and perhaps a port: no path, no user, no password. It
// becomes what is signed: as libcurl sends it, in lower case, and without the port that goes
// without saying.
void DemandAddress(const std::string& key, std::string* address);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SECTION_H_
