#include "section.h"

#include "failure.h"
#include "text.h"

namespace objectstore {

void Refuse(const std::string& key, const std::string& why) {
  throw Failure(TF_INVALID_ARGUMENT, "the key " + key + " " + why);
}

void DemandAddress(const std::string& key, std::string* address) {
  if (!address->empty() && address->back() == '/') address->pop_back();
  const size_t mark = address->find("://");
  const std::string scheme = address->substr(0, mark == std::string::npos ? 0 : mark);
  if ((scheme != "http" && scheme != "https") || address->size() == mark + 3 ||
      address->find_first_of("/?#@ ", mark + 3) != std::string::npos) {
    Refuse(key, "is not http://HOST:PORT or https://HOST:PORT");
  }
  *address = Lower(*address);
  const std::string port = scheme == "http" ? ":80" : ":443";
  if (address->size() > port.size() &&
      address->compare(address->size() - port.size(), port.size(), port) == 0) {
    address->erase(address->size() - port.size());
  }
}

}  // namespace objectstore
