#include "documents.h"

#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "failure.h"

namespace dragonfly {
namespace {

void Load(const std::string& body, pugi::xml_document* document) {
  // A key may be nothing but blanks.
  constexpr unsigned int kHow = pugi::parse_default | pugi::parse_ws_pcdata_single;
  if (!document->load_buffer(body.data(), body.size(), kHow)) {
    throw Failure(TF_INTERNAL, "the store answers with what is no XML");
  }
}

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Keys may hold characters that XML cannot, so they are asked for encoded, in the form of forms.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t k = 0; k < text.size(); ++k) {
    const bool escape =
        text[k] == '%' && k + 2 < text.size() && Digit(text[k + 1]) >= 0 && Digit(text[k + 2]) >= 0;
    if (escape) {
      decoded += static_cast<char>(Digit(text[k + 1]) * 16 + Digit(text[k + 2]));
      k += 2;
    } else {
      decoded += text[k] == '+' ? ' ' : text[k];
    }
  }
  return decoded;
}

std::string Written(const pugi::xml_document& document) {
  std::ostringstream text;
  document.save(text, "", pugi::format_raw);
  return text.str();
}

}  // namespace

std::string ElementText(const std::string& body, const char* element) {
  pugi::xml_document document;
  Load(body, &document);
  const pugi::xml_node found = document.document_element().child(element);
  if (!found) throw Failure(TF_INTERNAL, std::string("the store's answer has no ") + element);
  return found.text().get();
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
  if (root.child("IsTruncated").text().as_bool()) {
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
  root.append_child("Quiet").text().set(true);
  for (const std::string& key : keys) {
    root.append_child("Object").append_child("Key").text().set(key.c_str());
  }
  return Written(document);
}

std::vector<std::pair<std::string, std::string>> ReadDeleteErrors(const std::string& body) {
  pugi::xml_document document;
  Load(body, &document);
  std::vector<std::pair<std::string, std::string>> errors;
  for (const pugi::xml_node error : document.document_element().children("Error")) {
    errors.emplace_back(error.child("Key").text().get(), error.child("Code").text().get());
  }
  return errors;
}

}  // namespace dragonfly
