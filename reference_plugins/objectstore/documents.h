// The XML documents of S3's API.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DOCUMENTS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DOCUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "objects.h"

namespace objectstore {

// The text of this element of this document. Throws Failure (INTERNAL), as all of these do, where
// `body` is another document, or none, or the element is not there or empty.
std::string ElementText(const std::string& body, const char* document, const char* element);

// The answer of ListObjectsV2, which has to say whether it is all.
Page ReadPage(const std::string& body);

// The request of CompleteMultipartUpload.
std::string PartList(const std::vector<std::string>& etags);

// The request of DeleteObjects, and what its answer says of each key that it names: an error code,
// or nothing where the object is gone.
std::string DeleteList(const std::vector<std::string>& keys);
std::map<std::string, std::string> ReadDeletions(const std::string& body);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DOCUMENTS_H_
