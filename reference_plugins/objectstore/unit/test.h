// A test is a function with expectations in it; main runs all of them.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TEST_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TEST_H_

#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "failure.h"
#include "plugin.h"
#include "tf_filesystem_plugin.h"

namespace unit {

// Whose parts the tests try, where it does not matter.
constexpr objectstore::Plugin Somebody() { return {"s3x", "S3X_CONFIG_PATH"}; }

// The plugin whose ops a binary of tests has; table.cc of each says which.
struct Table {
  std::string scheme;
  TF_FilesystemOps ops;
};

Table TableUnderTest();

using Test = void (*)();

// All tests, by name.
inline std::map<std::string, Test>& tests() {
  static std::map<std::string, Test> all;
  return all;
}

// What did not hold, in all tests so far.
inline int& broken() {
  static int count = 0;
  return count;
}

struct Registered {
  Registered(const char* name, Test test) { tests()[name] = test; }
};

template <typename Value, typename Expected>
void Equal(const Value& got, const Expected& expected, const char* file, int line) {
  if (got == expected) return;
  ++broken();
  std::cout << file << ":" << line << ": got\n  " << got << "\nand not\n  " << expected << "\n";
}

// Whether `action` fails with `code`, and says `text`.
inline void Fails(const std::function<void()>& action, TF_Code code, const std::string& text,
                  const char* file, int line) {
  try {
    action();
  } catch (const objectstore::Failure& failure) {
    Equal(failure.code(), code, file, line);
    Equal(std::string(failure.what()).find(text) != std::string::npos ? text : failure.what(), text,
          file, line);
    return;
  }
  ++broken();
  std::cout << file << ":" << line << ": does not fail\n";
}

}  // namespace unit

#define TEST(name)                                      \
  static void name();                                   \
  static const unit::Registered name##_is(#name, name); \
  static void name()

#define EXPECT_EQUAL(got, expected) unit::Equal((got), (expected), __FILE__, __LINE__)
#define EXPECT_FAILS(action, code, text) \
  unit::Fails([&] { (void)(action); }, (code), (text), __FILE__, __LINE__)

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_UNIT_TEST_H_
