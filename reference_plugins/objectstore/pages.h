// A listing from its first page to its last. It ends, whatever the store says.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PAGES_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PAGES_H_

#include <set>
#include <string>

#include "objects.h"

namespace objectstore {

class Pages {
 public:
  // At most `most` of them.
  Pages(const Objects& objects, std::string bucket, Range range, int most)
      : objects_(objects), bucket_(std::move(bucket)), range_(std::move(range)), left_(most) {}

  // Sets `page` to the next one and gives true, or false behind the last. A page may have nothing
  // in it. Throws Failure: INTERNAL where the store comes back to a page, RESOURCE_EXHAUSTED where
  // there are too many.
  bool Next(Page* page);

 private:
  const Objects& objects_;
  const std::string bucket_;
  Range range_;
  int left_;
  bool ended_ = false;
  std::set<std::string> tokens_;  // of all pages so far
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_PAGES_H_
