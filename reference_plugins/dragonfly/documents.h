// The XML documents of S3's API.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_DOCUMENTS_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_DOCUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "objects.h"

namespace dragonfly {

// The text of this element, right below the root. Throws Failure (INTERNAL) where `body` is no XML,
// or has none.
std::string ElementText(const std::string& body, const char* element);

// The answer of ListObjectsV2.
Page ReadPage(const std::string& body);

// The request of CompleteMultipartUpload.
std::string PartList(const std::vector<std::string>& etags);

// The request of DeleteObjects, and the keys that its answer complains of, with an error code each.
std::string DeleteList(const std::vector<std::string>& keys);
std::vector<std::pair<std::string, std::string>> ReadDeleteErrors(const std::string& body);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_DOCUMENTS_H_
