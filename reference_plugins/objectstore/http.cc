#include "http.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "curl.h"
#include "sink.h"
#include "text.h"

namespace objectstore {
namespace {

// What goes on while a request is performed. libcurl is C: exceptions wait here until it is back.
struct Exchange {
  CURL* handle;
  const Request& request;
  Response response;
  uint64_t sent = 0;
  bool is_head_whole = false;  // its last line, which is empty, came
  bool begun = false;          // content came
  bool is_content = false;     // it goes into `into`
  bool full = false;           // more came than `into` takes
  std::exception_ptr refused;
  int patience = 0;  // seconds that nothing may come or go in; 0: libcurl looks after that
  curl_off_t moved = 0;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  bool stalled = false;

  // Performs `step`, which gives what libcurl shall be told; `stop` makes it end the transfer.
  template <typename Step>
  size_t Guarded(size_t stop, Step step) noexcept {
    try {
      return step();
    } catch (...) {
      refused = std::current_exception();
      return stop;
    }
  }
};

size_t OnHeader(char* data, size_t, size_t n, void* argument) {
  auto* exchange = static_cast<Exchange*>(argument);
  return exchange->Guarded(0, [&] {
    const std::string line(data, n);
    // The answer of a CONNECT, or a 100: the headers that count follow.
    const bool is_first = line.rfind("HTTP/", 0) == 0;
    if (is_first) exchange->response.headers.clear();
    // Behind the content may come more headers, and no empty line.
    exchange->is_head_whole =
        !is_first && (exchange->is_head_whole || line == "\r\n" || line == "\n");
    const size_t colon = line.find(':');
    if (colon == std::string::npos) return n;
    std::string name = Lower(line.substr(0, colon));
    const std::string value = Trimmed(line.substr(colon + 1));
    // Several of one name are one list, so that two of what there is one of are told from one.
    const auto [known, is_new] = exchange->response.headers.emplace(std::move(name), value);
    if (!is_new) known->second += ", " + value;
    return n;
  });
}

size_t OnBody(char* data, size_t, size_t n, void* argument) {
  auto* exchange = static_cast<Exchange*>(argument);
  return exchange->Guarded(0, [&] {
    if (!std::exchange(exchange->begun, true)) {
      curl().easy_getinfo(exchange->handle, CURLINFO_RESPONSE_CODE, &exchange->response.status);
      Sink* const into = exchange->request.into;
      exchange->is_content = into != nullptr && into->Begin(exchange->response);
    }
    if (exchange->is_content) {
      exchange->full = !exchange->request.into->Take(data, n);
      if (exchange->full) return size_t{0};
    } else if (exchange->response.body.size() + n > exchange->request.most_text) {
      throw Failure(TF_INTERNAL, "the answer is longer than any should be");
    } else {
      exchange->response.body.append(data, n);
    }
    return n;
  });
}

size_t OnSend(char* buffer, size_t, size_t n, void* argument) {
  auto* exchange = static_cast<Exchange*>(argument);
  return exchange->Guarded(CURL_READFUNC_ABORT, [&] {
    const Body& body = exchange->request.body;
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(n, body.size() - exchange->sent));
    if (body.file == nullptr) {
      std::memcpy(buffer, body.text.data() + exchange->sent, wanted);
    } else if (body.file->Read(exchange->sent, wanted, buffer) != wanted) {
      throw Failure(TF_INTERNAL, "the temporary file is shorter than it was");
    }
    exchange->sent += wanted;
    return wanted;
  });
}

// libcurl asks when it handed out what was there, and at least once a second.
int OnProgress(void* argument, curl_off_t, curl_off_t came, curl_off_t, curl_off_t went) {
  auto* exchange = static_cast<Exchange*>(argument);
  return exchange->Guarded(1, [&] {
    if (exchange->is_content) exchange->request.into->Flush();
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(exchange->moved, came + went) != came + went) exchange->last = now;
    const std::chrono::seconds patience(exchange->patience);
    exchange->stalled = patience.count() != 0 && now - exchange->last >= patience;
    return exchange->stalled || Recalled() ? 1 : 0;
  });
}

// A connection that was kept may be gone when it is used again: then libcurl sends from the start.
int OnRewind(void* argument, curl_off_t offset, int origin) {
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Exchange*>(argument)->sent = static_cast<uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

Disconnected Because(CURLcode code, const Request& request, const Proxy& proxy, bool sent) {
  // libcurl's own texts for codes: those for a single transfer may quote the URL.
  const std::string text = (request.by_proxy ? proxy.name : request.who) +
                           " gives no full answer: " + curl().easy_strerror(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      // A transfer that stood still took its time already; another try would double it.
      return {TF_DEADLINE_EXCEEDED, text, !sent, !sent};
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {TF_UNAVAILABLE, text, true, true};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return {TF_FAILED_PRECONDITION, text, false};
    case CURLE_URL_MALFORMAT:
      return {TF_INVALID_ARGUMENT, text, false};
    case CURLE_OUT_OF_MEMORY:
      return {TF_RESOURCE_EXHAUSTED, text, false};
    default:
      return {TF_UNAVAILABLE, text, true};
  }
}

// Whether somebody may have heard of the request, be it the proxy.
bool Sent(CURL* handle) {
  long bytes = 0;
  curl().easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

using List = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

void Add(List* list, const std::string& line) {
  curl_slist* longer = curl().slist_append(list->get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  list->release();
  list->reset(longer);
}

// scheme://host:port
std::string OriginOf(const std::string& url) {
  const size_t host = url.find("://") + 3;
  return url.substr(0, url.find_first_of("/?", host));
}

List HeaderLines(const Request& request) {
  List lines(nullptr, curl().slist_free_all);
  // What libcurl would add by itself: a wait for permission to send, and a header of old proxies.
  Add(&lines, "Expect:");
  Add(&lines, "Proxy-Connection:");
  for (const auto& [name, value] : request.headers) {
    // "Name;" is how libcurl is told to send a header without a value.
    Add(&lines, value.empty() ? name + ";" : name + ": " + value);
  }
  return lines;
}

}  // namespace

std::string Word(const std::string& text) {
  constexpr size_t kMost = 64;
  std::string word;
  for (const char c : text.substr(0, kMost)) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9')) word += c;
  }
  return word;
}

std::string Response::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Http::Http(const Plugin& plugin, Proxy proxy, int connect_timeout, int stall_timeout,
           int max_connections, Tls tls)
    : agent_(std::string("tffs-") + plugin.scheme + " " + curl().version),
      proxy_(std::move(proxy)),
      connect_timeout_(connect_timeout),
      stall_timeout_(stall_timeout),
      tls_(std::move(tls)),
      to_store_(max_connections),
      to_proxy_(max_connections) {}

Response Http::Send(const Request& request) {
  if (request.url.rfind("http://", 0) != 0 && request.url.rfind("https://", 0) != 0) {
    throw Failure(TF_INVALID_ARGUMENT, std::string(request.who) + " has no address of http");
  }
  auto lease = (request.by_proxy ? to_proxy_ : to_store_).Borrow(OriginOf(request.url));
  CURL* handle = lease.handle();
  Exchange exchange{handle, request, {}};
  const List lines = HeaderLines(request);

  const auto set = [handle](CURLoption option, auto value) {
    const CURLcode code = curl().easy_setopt(handle, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK) throw Failure(TF_INTERNAL, "libcurl refuses an option");
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_USERAGENT, agent_.c_str());
  set(CURLOPT_NOSIGNAL, 1L);  // TensorFlow has many threads, and signals are its own affair
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_HTTPHEADER, lines.get());
  // What the environment says of proxies shall neither lead past this one nor to someone else.
  set(CURLOPT_PROXY, request.by_proxy ? proxy_.address.c_str() : "");
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(connect_timeout_));
  // Content that trickles would come for ever, too. What is asked of a store is answered whole in
  // that time; but a store that puts an object together sends a blank now and then, which is less
  // than libcurl calls a byte a second.
  set(CURLOPT_LOW_SPEED_LIMIT, request.into != nullptr ? 1024L : 0L);
  set(CURLOPT_LOW_SPEED_TIME, request.into != nullptr ? static_cast<long>(stall_timeout_) : 0L);
  if (request.into == nullptr) exchange.patience = stall_timeout_;
  const bool is_question = request.into == nullptr && request.body.size() == 0 &&
                           (request.method == "GET" || request.method == "HEAD");
  if (is_question) set(CURLOPT_TIMEOUT, static_cast<long>(stall_timeout_));
  const auto set_file = [&set](const std::string& path, CURLoption one, CURLoption other) {
    if (path.empty()) return;
    set(one, path.c_str());
    set(other, path.c_str());
  };
  set_file(tls_.ca_file, CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO);
  set_file(tls_.client_certificate, CURLOPT_SSLCERT, CURLOPT_PROXY_SSLCERT);
  set_file(tls_.client_key, CURLOPT_SSLKEY, CURLOPT_PROXY_SSLKEY);
  set(CURLOPT_BUFFERSIZE, 512L << 10);
  set(CURLOPT_HEADERFUNCTION, OnHeader);
  set(CURLOPT_HEADERDATA, &exchange);
  set(CURLOPT_WRITEFUNCTION, OnBody);
  set(CURLOPT_WRITEDATA, &exchange);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, OnProgress);
  set(CURLOPT_XFERINFODATA, &exchange);
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, OnSend);
    set(CURLOPT_READDATA, &exchange);
    set(CURLOPT_SEEKFUNCTION, OnRewind);
    set(CURLOPT_SEEKDATA, &exchange);
  } else {
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  CURLcode code = curl().easy_perform(handle);
  if (exchange.stalled) code = CURLE_OPERATION_TIMEDOUT;
  // It may keep a part of a transfer that failed, and refuse options for ever.
  if (code != CURLE_OK || !exchange.is_head_whole) lease.GiveUp();
  if (exchange.refused != nullptr) std::rethrow_exception(exchange.refused);
  // Also of an answer that broke off: the next request goes on behind it.
  if (exchange.is_content) request.into->Flush();
  if (code != CURLE_OK && !exchange.full) {
    throw Because(code, request, proxy_, Sent(handle));
  }
  // To libcurl the end of a connection is the end of a head, too.
  if (!exchange.is_head_whole) throw Because(CURLE_PARTIAL_FILE, request, proxy_, true);
  curl().easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange.response.status);
  const std::string type = Word(exchange.response.Header(Lower(proxy_.error_header)));
  if (!type.empty()) exchange.response.proxy_error = proxy_.error_header + ": " + type;
  return std::move(exchange.response);
}

}  // namespace objectstore
