// An object that comes in parts: all of them make it, or none.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MULTIPART_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MULTIPART_H_

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "objects.h"
#include "patience.h"
#include "spool.h"
#include "workers.h"

namespace objectstore {

// An upload that was begun. One thread uses it. Each part is sent by a thread of its own, with time
// of its own for trying again: it goes on when the op ends that began it. A child of fork has none
// of these threads, and must neither use nor destroy it.
class Multipart : private Employer {
 public:
  static constexpr uint64_t kMostParts = 10000;  // that S3 takes

  // Begins it. `objects` outlives it. Throws Failure, as all of these do.
  Multipart(const Objects& objects, Name name);

  // Unless it is finished, breaks it off when all parts that were begun have ended.
  ~Multipart();
  Multipart(const Multipart&) = delete;
  Multipart& operator=(const Multipart&) = delete;

  // What the parts that follow consist of: a file, or an object, as Objects::Copy has it.
  void Send(std::shared_ptr<const Spool> file);
  void Copy(const Name& source, const Version& version);

  // How many parts there are.
  size_t count() const { return etags_.size(); }

  // Waits until no more than `most` parts are under way. Throws what ended one of them.
  void Settle(size_t most);

  // Puts the object there, and gives its ETag.
  std::string Finish(const Condition& condition);

 private:
  using SendPart = std::function<std::string(const Parameters& query)>;  // gives its ETag

  struct UnderWay {
    size_t number;  // from 0 on
    std::future<std::string> etag;
  };

  void Begin(uint64_t size, SendPart send);
  void Stop() override;

  const Objects& objects_;
  const Name name_;
  std::string id_;
  uint64_t size_ = 0;
  std::vector<std::string> etags_;
  bool finished_ = false;
  Recall recall_;
  std::list<UnderWay> under_way_;
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_MULTIPART_H_
