// The two kinds of names: local paths, which posix takes care of, and objects.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_NAMES_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_NAMES_H_

#include <string>

#include "config.h"
#include "s3.h"

namespace objectstore {

// What follows scheme:// where no bucket is named, or the name as it is where it has no such
// beginning; NULL where it names an object.
const char* LocalPath(const Plugin& plugin, const char* path);

// The object. Throws Failure: INVALID_ARGUMENT where there can be none of that name, NOT_FOUND
// where the bucket is not the configured one.
Name ObjectName(const Config& config, const char* path);

// "key/": the beginning of what is in this directory, and the key of its marker. Nothing for a
// bucket.
std::string Inside(const Name& directory);

// The directory above; of what is right in a bucket: the bucket.
Name ParentOf(const Name& name);

// The name that core is to use: cleans what follows the bucket, and keeps the bucket, which core's
// default would drop.
char* TranslatedName(const Plugin& plugin, const char* uri) noexcept;

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_NAMES_H_
