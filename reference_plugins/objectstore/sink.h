// Content on its way into a spool: no more of it than is wanted, and added up as it comes. What
// came before a connection broke stays, and the next try asks for the rest.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SINK_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "checksum.h"
#include "counters.h"
#include "http.h"
#include "spool.h"

namespace objectstore {

// Those who read the spool before all of it is there. Called by the thread that fills it.
class Audience {
 public:
  // The spool has more than it had.
  virtual void Grew() = 0;

  // Whether nobody read any of it yet, so that it may begin anew.
  virtual bool MayForget() = 0;

 protected:
  ~Audience() = default;
};

// Some bytes of an object, or all.
struct Span {
  uint64_t first = 0;
  uint64_t length = 0;
  uint64_t total = 0;  // bytes of the object

  bool is_all() const { return length == total; }
};

class Sink {
 public:
  // Fills `spool` with `span` of an object; the whole of it adds up to `checksum`. Spool and
  // audience outlive it.
  Sink(Spool* spool, Span span, Checksum checksum, Audience* audience = nullptr);

  // What every answer has to have, before a byte of it is taken: throws Failure where it has not.
  void Demand(std::function<void(const Response&)> demand) { demand_ = std::move(demand); }

  // What comes is counted there.
  void CountAs(Counter* counter) { counter_ = counter; }

  // Forgets what came so far, and says whether it did: not where the audience saw some of it.
  bool Clear();

  // A request for what is missing begins: gives the value of its header Range, or nothing where it
  // has none, for the whole object is missing.
  std::string Ask();

  // Whether this answer is one to that request. Throws what the demand throws.
  bool Fits(const Response& response) const;

  // The body of this answer follows; says whether it is content.
  bool Begin(const Response& response);

  // Takes more, and says whether it did: false where that is more than is wanted. Throws Failure
  // where the spool is full.
  bool Take(const char* data, size_t n);

  // No more is there just now: puts what was taken into the spool. Throws as Take does.
  void Flush();

  // What is wrong with what came, or NULL. Asked once, when all of it is there.
  const char* Fault();

  const Span& span() const { return span_; }

 private:
  // How many bytes of the body of such an answer are in the spool already; nothing where it is not
  // what was asked for.
  std::optional<uint64_t> Known(const Response& response) const;

  Spool* const spool_;
  const Span span_;
  const Checksum checksum_;
  Audience* const audience_;
  std::function<void(const Response&)> demand_;
  Counter* counter_ = nullptr;
  Adder adder_;
  std::string block_;  // what was taken and is not in the spool
  std::string asked_;  // the range of the request under way, without its unit
  uint64_t from_ = 0;  // where that begins
  uint64_t had_ = 0;   // what was there before it
  uint64_t to_skip_ = 0;
  uint64_t renewed_ = 0;  // what was there when the op got new patience
  bool too_long_ = false;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_SINK_H_
