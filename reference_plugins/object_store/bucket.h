// A bucket: a flat set of objects, each a key and its bytes, as stores on the network keep them.
// There are no directories, and nothing but whole objects is ever put, seen or removed.
//
// Objects are files of one local directory, so that a bucket outlives the process. The environment
// variable TFFS_BUCKET names it; without, it is /tmp/tffs-bucket-<user>.
#ifndef TFFS_REFERENCE_PLUGINS_OBJECT_STORE_BUCKET_H_
#define TFFS_REFERENCE_PLUGINS_OBJECT_STORE_BUCKET_H_

#include <sys/stat.h>

#include <set>
#include <string>
#include <string_view>

namespace object_store {

// The longest key, in bytes.
constexpr size_t kLongestKey = 1024;

// The local file in which an object is, if there is one.
std::string FileOf(std::string_view key);

// Whether there is such an object; its size and time go to `facts`.
bool Head(std::string_view key, struct stat* facts);

// Makes an object, or replaces it, in one step. Gives 0 or an errno value. Throws std::bad_alloc.
int Put(std::string_view key, std::string_view content);

// Reads a whole object. Gives 0 or an errno value. Throws std::bad_alloc.
int Get(std::string_view key, std::string* content);

// Gives 0 or an errno value.
int Delete(std::string_view key);

// The keys that begin with `prefix`. Throws std::bad_alloc.
std::set<std::string> List(std::string_view prefix);

}  // namespace object_store

#endif  // TFFS_REFERENCE_PLUGINS_OBJECT_STORE_BUCKET_H_
