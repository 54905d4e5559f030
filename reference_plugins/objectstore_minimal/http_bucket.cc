// A bucket over S3's REST API. libcurl speaks HTTP and signs (CURLOPT_AWS_SIGV4), pugixml parses:
// what is left is which requests there are, and which answers count.
//
// An answer counts where it says all that S3 says. Else somebody on the way gave it, or half of it
// is missing, and it is a failure: never "not found", and never bytes.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <new>
#include <pugixml.hpp>
#include <utility>
#include <vector>

#include "bucket.h"
#include "objectstore/curl.h"

namespace objectstore_minimal {
namespace {

using objectstore::curl;
constexpr size_t kLongestDocument = 16 << 20;  // a thousand keys, three bytes for each of theirs
constexpr char kETagOfNothing[] = "\"d41d8cd98f00b204e9800998ecf8427e\"";
constexpr char kInUrls[] = "-._~";  // what a signature needs left as it is

// What the status of an answer means. Any other is INTERNAL, and UNAVAILABLE from 500 on.
constexpr struct {
  long status;
  TF_Code code;
} kMeanings[] = {
    {400, TF_INVALID_ARGUMENT},
    {401, TF_UNAUTHENTICATED},
    {403, TF_PERMISSION_DENIED},  // a wrong key or signature, too
    {404, TF_NOT_FOUND},          // only where the body is an error of S3's
    {409, TF_ABORTED},            // two at the same time
    {412, TF_ABORTED},            // another version than If-Match names
    {429, TF_UNAVAILABLE},
    {501, TF_UNIMPLEMENTED},
    {507, TF_RESOURCE_EXHAUSTED},
};

struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  bool has_head = false;                       // all of it
  std::string body;
  size_t longest_body = kLongestDocument;
  curl_off_t length = -1;  // what it says of itself; -1: nothing
  curl_off_t mtime = -1;   // seconds
};

// Parses a document whose outer element is `root`; there is no such element where it is another.
pugi::xml_node Parse(const std::string& body, const char* root, pugi::xml_document* document) {
  const auto how = pugi::parse_default | pugi::parse_ws_pcdata_single;  // a key may be blanks
  return document->load_buffer(body.data(), body.size(), how) ? document->child(root)
                                                              : pugi::xml_node();
}

Failure Refusal(const Response& response) {
  pugi::xml_document document;
  const std::string error = Parse(response.body, "Error", &document).child("Code").text().get();
  const std::string text = "the store answers " + std::to_string(response.status) +
                           (error.empty() ? "" : " " + Encoded(error.substr(0, 64), ""));
  // A copy that fails halfway has said 200 already, and so has an answer that was cut.
  if (response.status < 300) return {TF_UNAVAILABLE, text};
  if (response.status == 404 && error.empty()) return {TF_UNAVAILABLE, text};
  for (const auto& meaning : kMeanings) {
    if (meaning.status == response.status) return {meaning.code, text};
  }
  return {response.status >= 500 ? TF_UNAVAILABLE : TF_INTERNAL, text};
}

// libcurl is C, and no exception may pass it: 0 ends the transfer.
size_t OnHeader(char* data, size_t, size_t n, void* response) noexcept try {
  auto* self = static_cast<Response*>(response);
  const std::string_view line(data, n);
  const size_t colon = line.find(':');
  // A head, perhaps that of a 100, begins or ends with a line that has none.
  if (colon == std::string_view::npos) self->has_head = line[0] == '\r' || line[0] == '\n';
  if (colon == std::string_view::npos) return n;
  std::string name(line.substr(0, colon));
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  const size_t first = line.find_first_not_of(" \t", colon + 1);
  const size_t last = line.find_last_not_of(" \t\r\n");
  self->headers[name] = last < first ? "" : line.substr(first, last - first + 1);
  return n;
} catch (...) {
  return 0;
}

size_t OnBody(char* data, size_t, size_t n, void* response) noexcept try {
  auto* self = static_cast<Response*>(response);
  if (n > self->longest_body - self->body.size()) return 0;
  self->body.append(data, n);
  return n;
} catch (...) {
  return 0;
}

std::string Variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  if (value == nullptr) value = otherwise;
  if (value == nullptr) throw Failure(TF_INVALID_ARGUMENT, std::string(name) + " is not set");
  return value;
}

class HttpBucket final : public Bucket {
 public:
  explicit HttpBucket(std::string url) : url_(std::move(url)) {
    while (url_.back() == '/') url_.pop_back();
    name_ = url_.substr(std::min(url_.size(), url_.find('/', url_.find("://") + 3)));
    if (name_.size() < 2 || name_.find_first_of("/?#", 1) != std::string::npos) {
      throw Failure(TF_INVALID_ARGUMENT,
                    "TFFS_BUCKET is a URL, but not http(s)://host:port/bucket");
    }
    curl();  // throws where there is none
  }

  std::optional<Facts> Head(const std::string& key) const override {
    // Also before it is made. Listings are XML: some stores make another key of one it cannot say.
    const std::wstring said = pugi::as_wide(key);
    const auto is_odd = [](wchar_t c) {
      return c < ' ' || (c > 0xd7ff && c < 0xe000) || (c > 0xfffd && c < 0x10000) || c > 0x10ffff;
    };
    if (pugi::as_utf8(said) != key || std::any_of(said.begin(), said.end(), is_odd)) {
      throw Failure(TF_INVALID_ARGUMENT, "the key is not UTF-8, or has a control character");
    }
    for (int attempt = 0; attempt < 3; ++attempt) {
      Response head = Send("HEAD", PathOf(key));
      const std::string etag = head.headers["etag"];
      const Facts facts = {static_cast<uint64_t>(head.length), head.mtime * 1000000000, etag};
      // Some gateways say of every object that it is empty.
      const bool is_clear = head.length > 0 || (head.length == 0 && etag == kETagOfNothing);
      if (head.status == 200 && is_clear && !etag.empty()) return facts;
      if (head.status != 200 && head.status != 404) throw Refusal(head);
      // It has no body that says who answers. The answer to a GET has one.
      const Response get = Send("GET", PathOf(key), {"Range: bytes=0-0"});
      if (get.status == 404 && Refusal(get).code == TF_NOT_FOUND) return std::nullopt;
      if (get.status == 416 && head.length == 0 && !etag.empty()) return facts;
      if (get.status >= 300) throw Refusal(get);
    }
    throw Failure(TF_UNAVAILABLE, "the store cannot say whether there is such an object");
  }

  std::string Get(const std::string& key, const Facts& facts, uint64_t offset,
                  size_t n) const override {
    const std::string span = std::to_string(offset) + "-" + std::to_string(offset + n - 1);
    Response response =
        Send("GET", PathOf(key), {"Range: bytes=" + span, "If-Match: " + facts.version}, "", n);
    if (response.status >= 300) throw Refusal(response);
    const std::string part = "bytes " + span + "/" + std::to_string(facts.size);
    const bool is_part = response.status == 206 && response.headers["content-range"] == part;
    const bool is_whole = response.status == 200 && n == facts.size;
    const std::string etag = response.headers["etag"];
    if (!etag.empty() && etag != facts.version) throw Failure(TF_ABORTED, "it was replaced");
    if (etag.empty() || (!is_whole && !is_part) || response.body.size() != n) {
      throw Failure(TF_INTERNAL, "the store answers with other bytes than it was asked for");
    }
    return std::move(response.body);
  }

  void Put(const std::string& key, const std::string& content) const override {
    Response response = Send("PUT", PathOf(key), {}, content);
    if (response.status != 200 || response.headers["etag"].empty()) throw Refusal(response);
  }

  void Delete(const std::string& key) const override {
    const Response response = Send("DELETE", PathOf(key));
    if (response.status != 204) throw Refusal(response);
  }

  std::set<std::string> List(const std::string& prefix, size_t most) const override {
    std::set<std::string> keys;
    std::string token;
    for (int page = 0; page < 1000; ++page) {
      std::string query = "?";  // in the order of a signature
      if (!token.empty()) query += "continuation-token=" + Encoded(token, kInUrls) + "&";
      query += "encoding-type=url&list-type=2&max-keys=" +
               std::to_string(std::min<size_t>(most - keys.size(), 1000)) +
               "&prefix=" + Encoded(prefix, kInUrls);
      token = ReadPage(Send("GET", query), prefix, &keys);
      if (token.empty() || keys.size() >= most) return keys;
    }
    throw Failure(TF_RESOURCE_EXHAUSTED, "the listing is too long");
  }

  void Copy(const std::string& source, const std::string& target) const override {
    const Response response =
        Send("PUT", PathOf(target), {"x-amz-copy-source: " + name_ + PathOf(source)});
    pugi::xml_document document;
    const auto result = Parse(response.body, "CopyObjectResult", &document);
    if (response.status != 200 || !result.child("ETag")) throw Refusal(response);
  }

 private:
  static std::string PathOf(const std::string& key) {
    return "/" + Encoded(key, std::string(kInUrls) + "/");
  }

  // Adds the keys of a page, and gives what names the next one, or nothing.
  static std::string ReadPage(const Response& response, const std::string& prefix,
                              std::set<std::string>* keys) {
    pugi::xml_document document;
    const auto listing = Parse(response.body, "ListBucketResult", &document);
    const std::string truncated = listing.child("IsTruncated").text().get();
    if (response.status != 200 || (truncated != "true" && truncated != "false")) {
      throw Refusal(response);
    }
    const std::string encoding = listing.child("EncodingType").text().get();  // some know none
    for (const pugi::xml_node entry : listing.children("Contents")) {
      const std::string text = entry.child("Key").text().get();
      const std::string key = encoding == "url" ? Decoded(text) : text;
      // Who deletes what the store names must not be led elsewhere.
      if (key.empty() || key.compare(0, prefix.size(), prefix) != 0) {
        throw Failure(TF_INTERNAL, "the store lists what it was not asked for");
      }
      keys->insert(key);
    }
    if (truncated == "false") return "";
    const std::string next = listing.child("NextContinuationToken").text().get();
    if (next.empty()) throw Failure(TF_INTERNAL, "the store's listing cannot be continued");
    return next;
  }

  // One request, and its whole answer. Throws UNAVAILABLE where there is none.
  Response Send(const std::string& method, const std::string& target,
                std::vector<std::string> headers = {}, const std::string& body = "",
                size_t longest_body = kLongestDocument) const {
    const std::unique_ptr<CURL, decltype(curl().easy_cleanup)> handle(curl().easy_init(),
                                                                      curl().easy_cleanup);
    if (handle == nullptr) throw std::bad_alloc();
    const auto set = [&handle](CURLoption option, auto value) {
      if (curl().easy_setopt(handle.get(), option, value) != CURLE_OK) {
        throw Failure(TF_FAILED_PRECONDITION, "this libcurl is too old to sign requests");
      }
    };
    Response response;
    response.longest_body = std::max<size_t>(longest_body, 64 << 10);  // an error's
    headers.push_back("x-amz-content-sha256: UNSIGNED-PAYLOAD");       // not all of libcurl do
    if (method == "PUT") headers.push_back("Content-Type: application/octet-stream");
    if (!token_.empty()) headers.push_back("x-amz-security-token: " + token_);
    std::unique_ptr<curl_slist, decltype(curl().slist_free_all)> lines(nullptr,
                                                                       curl().slist_free_all);
    for (const std::string& header : headers) {
      curl_slist* longer = curl().slist_append(lines.get(), header.c_str());
      if (longer == nullptr) throw std::bad_alloc();
      lines.release();
      lines.reset(longer);
    }
    set(CURLOPT_URL, (url_ + target).c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_NOSIGNAL, 1L);  // signals are TensorFlow's own affair
    set(CURLOPT_AWS_SIGV4, ("aws:amz:" + region_ + ":s3").c_str());
    set(CURLOPT_USERNAME, access_key_.c_str());
    set(CURLOPT_PASSWORD, secret_key_.c_str());
    set(CURLOPT_HTTPHEADER, lines.get());
    set(CURLOPT_CONNECTTIMEOUT, 5L);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, 30L);
    set(CURLOPT_FILETIME, 1L);
    set(CURLOPT_HEADERFUNCTION, OnHeader);
    set(CURLOPT_HEADERDATA, &response);
    set(CURLOPT_WRITEFUNCTION, OnBody);
    set(CURLOPT_WRITEDATA, &response);
    if (method == "HEAD") set(CURLOPT_NOBODY, 1L);
    if (method == "PUT") {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
      set(CURLOPT_POSTFIELDS, body.data());
    }
    if (method != "HEAD") set(CURLOPT_CUSTOMREQUEST, method.c_str());

    CURLcode code = curl().easy_perform(handle.get());
    if (code == CURLE_OK && !response.has_head) code = CURLE_PARTIAL_FILE;
    if (code != CURLE_OK) {
      throw Failure(code == CURLE_WRITE_ERROR ? TF_INTERNAL : TF_UNAVAILABLE,
                    std::string("the store gives no full answer: ") + curl().easy_strerror(code));
    }
    curl().easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &response.status);
    curl().easy_getinfo(handle.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &response.length);
    curl().easy_getinfo(handle.get(), CURLINFO_FILETIME_T, &response.mtime);
    return response;
  }

  std::string url_;
  std::string name_;  // the bucket, behind a slash
  const std::string access_key_ = Variable("AWS_ACCESS_KEY_ID", nullptr);
  const std::string secret_key_ = Variable("AWS_SECRET_ACCESS_KEY", nullptr);
  const std::string token_ = Variable("AWS_SESSION_TOKEN", "");
  const std::string region_ =
      Variable("AWS_REGION", Variable("AWS_DEFAULT_REGION", "us-east-1").c_str());
};

}  // namespace

std::shared_ptr<const Bucket> OpenHttp(const std::string& url) {
  return std::make_shared<HttpBucket>(url);
}

}  // namespace objectstore_minimal
