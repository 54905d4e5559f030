#include "pages.h"

#include "failure.h"

namespace objectstore {

bool Pages::Next(Page* page) {
  if (ended_) return false;
  if (left_-- == 0) {
    throw Failure(TF_RESOURCE_EXHAUSTED, "the listing has more pages than list_max_pages");
  }
  *page = objects_.List(bucket_, range_);
  range_.token = page->next;
  ended_ = page->next.empty();
  if (!ended_ && !tokens_.insert(page->next).second) {
    throw Failure(TF_INTERNAL, "the store's listing goes round in a circle");
  }
  return true;
}

}  // namespace objectstore
