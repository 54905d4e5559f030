// One HTTP request and its response. It knows nothing of S3, or of trying again.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_HTTP_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_HTTP_H_

#include <cstdint>
#include <map>
#include <string>

#include "connections.h"
#include "failure.h"
#include "plugin.h"
#include "spool.h"
#include "tls.h"

namespace objectstore {

class Sink;

// What is sent along: a text, or a file.
struct Body {
  std::string text;
  const Spool* file = nullptr;  // instead of the text

  uint64_t size() const { return file == nullptr ? text.size() : file->size(); }
};

struct Request {
  std::string method;
  std::string url;
  std::map<std::string, std::string> headers;  // names in lower case
  Body body;                                   // for PUT and POST
  bool by_proxy = false;                       // through the proxy
  Sink* into = nullptr;           // where the body goes that it wants; others are in the response
  size_t most_text = 64 << 20;    // of a body in the response: no listing and no error has more
  const char* who = "the store";  // is asked, as messages have it, where it is not the proxy
};

// One through whom requests may go.
struct Proxy {
  std::string address;
  std::string name;          // as messages have it
  std::string error_header;  // in which it says that an error is its own
};

// A word of a server as it may stand in a message: its letters and digits, and not too many.
std::string Word(const std::string& text);

struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; values joined by commas
  std::string body;
  std::string proxy_error;  // "Header: word", where the proxy says that the error is its own

  // The value of a header, or nothing.
  std::string Header(const std::string& name) const;
};

// No response came, or not all of it.
class Disconnected : public Failure {
 public:
  Disconnected(TF_Code code, const std::string& text, bool may_pass, bool did_nothing = false)
      : Failure(code, text), may_pass_(may_pass), did_nothing_(did_nothing) {}

  // Whether the next try may fare better.
  bool may_pass() const { return may_pass_; }

  // Whether nobody was reached, so that any request may be sent again.
  bool did_nothing() const { return did_nothing_; }

 private:
  bool may_pass_;
  bool did_nothing_;
};

// What all threads of the process send their requests with.
class Http {
 public:
  // For `plugin`. Times are in seconds; there are `max_connections` to the store at most, and as
  // many to the proxy. Throws Failure where there is no libcurl.
  Http(const Plugin& plugin, Proxy proxy, int connect_timeout, int stall_timeout,
       int max_connections, Tls tls = {});

  // Whatever the status. Of a body that is more than `into` takes, what it took. Throws
  // Disconnected, also where no connection is free, and Failure where there is no room for the
  // body, or it is too long a text.
  Response Send(const Request& request);

 private:
  const std::string agent_;
  const Proxy proxy_;
  const int connect_timeout_;
  const int stall_timeout_;
  const Tls tls_;
  Connections to_store_;
  Connections to_proxy_;  // apart: who waits for the one does not take the place of the other
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_HTTP_H_
