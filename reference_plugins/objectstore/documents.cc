#include "documents.h"

#include <new>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "failure.h"
#include "times.h"

namespace objectstore {
namespace {

void Load(const std::string& body, pugi::xml_document* document) {
  // A key may be nothing but blanks.
  constexpr unsigned int kHow = pugi::parse_default | pugi::parse_ws_pcdata_single;
  const pugi::xml_parse_result parsed = document->load_buffer(body.data(), body.size(), kHow);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) throw Failure(TF_INTERNAL, "the store answers with what is no XML");
}

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Keys may hold characters that XML cannot, so they are asked for encoded, in the form of forms.
// Throws Failure where `text` is not of that form: then nobody knows what the key is.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '%') {
      const int high = k + 2 < text.size() ? Digit(text[k + 1]) : -1;
      const int low = k + 2 < text.size() ? Digit(text[k + 2]) : -1;
      if (high < 0 || low < 0) throw Failure(TF_INTERNAL, "the store encodes keys wrongly");
      decoded += static_cast<char>(high * 16 + low);
      k += 2;
    } else if (c <= ' ' || c == '\x7f') {  // bytes above 0x7f are negative
      throw Failure(TF_INTERNAL, "the store says that it encodes keys, and does not");
    } else {
      decoded += c == '+' ? ' ' : c;
    }
  }
  return decoded;
}

// Throws Failure where it says neither.
bool IsTruncated(const pugi::xml_node& listing) {
  const std::string_view text = listing.child("IsTruncated").text().get();
  if (text != "true" && text != "false") {
    throw Failure(TF_INTERNAL, "the store's listing does not say whether it is all");
  }
  return text == "true";
}

std::string Written(const pugi::xml_document& document) {
  std::ostringstream text;
  document.save(text, "", pugi::format_raw);
  return text.str();
}

}  // namespace

std::string ElementText(const std::string& body, const char* document, const char* element) {
  pugi::xml_document parsed;
  Load(body, &parsed);
  std::string text = parsed.child(document).child(element).text().get();
  if (text.empty()) {
    throw Failure(TF_INTERNAL,
                  std::string("the store's answer has no ") + document + " with an " + element);
  }
  return text;
}

Page ReadPage(const std::string& body) {
  pugi::xml_document document;
  Load(body, &document);
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!root) throw Failure(TF_INTERNAL, "the store's answer is no listing");
  // A store that does not know the option says nothing of it, and encodes nothing.
  const bool encoded = std::string_view(root.child("EncodingType").text().get()) == "url";
  const auto text = [encoded](const pugi::xml_node& node) {
    return encoded ? Decoded(node.text().get()) : std::string(node.text().get());
  };
  Page page;
  for (const pugi::xml_node entry : root.children("Contents")) {
    if (page.keys.empty()) page.first_mtime_nsec = TimeOf(entry.child("LastModified").text().get());
    page.keys.push_back(text(entry.child("Key")));
  }
  for (const pugi::xml_node entry : root.children("CommonPrefixes")) {
    page.prefixes.push_back(text(entry.child("Prefix")));
  }
  if (IsTruncated(root)) {
    page.next = root.child("NextContinuationToken").text().get();
    if (page.next.empty()) throw Failure(TF_INTERNAL, "the store's listing cannot be continued");
  }
  return page;
}

std::string PartList(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  int number = 0;
  for (const std::string& etag : etags) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text().set(++number);
    part.append_child("ETag").text().set(etag.c_str());
  }
  return Written(document);
}

std::string DeleteList(const std::vector<std::string>& keys) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("Delete");
  // Not quiet: the answer names each key that is gone, and silence is no success.
  for (const std::string& key : keys) {
    root.append_child("Object").append_child("Key").text().set(key.c_str());
  }
  return Written(document);
}

std::map<std::string, std::string> ReadDeletions(const std::string& body) {
  pugi::xml_document document;
  Load(body, &document);
  const pugi::xml_node root = document.child("DeleteResult");
  if (!root) throw Failure(TF_INTERNAL, "the store does not say what it deleted");
  std::map<std::string, std::string> deletions;
  for (const pugi::xml_node gone : root.children("Deleted")) {
    deletions[gone.child("Key").text().get()] = "";
  }
  for (const pugi::xml_node error : root.children("Error")) {
    const std::string code = error.child("Code").text().get();
    deletions[error.child("Key").text().get()] = code.empty() ? "Error" : code;
  }
  return deletions;
}

}  // namespace objectstore
