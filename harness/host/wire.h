// The host's end of the wire: frames of integers and byte strings, as docs/wire.md defines them.
// The client's end is harness/wire.py; the two are twins.
#ifndef TFFS_HOST_WIRE_H_
#define TFFS_HOST_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tffs {

// Of the frames, the commands and their answers: docs/wire.md.
constexpr int kWireVersion = 7;

// A request that makes no sense; answered with `bad`.
struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the host needs and cannot have, such as memory: the plugin may have used it up. Answered
// with `lacks`, as other exceptions of the host's own are.
struct Lacking : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Larger frames are neither taken nor sent.
constexpr size_t kLargestBody = size_t{256} << 20;

// The values of one request, taken one after the other.
class Request {
 public:
  explicit Request(std::string_view body) : rest_(body) {}

  // What the request begins with; empty, which is no command, where that is damaged.
  std::string_view TakeCommand();
  bool AtEnd() const { return rest_.empty(); }
  int64_t TakeInteger();
  uint64_t TakeUnsigned() { return static_cast<uint64_t>(TakeInteger()); }
  // Valid until the next request is received.
  std::string_view TakeBytes();
  // All that was not taken yet, likewise.
  std::string_view Rest() const { return rest_; }

 private:
  char TakeTag();
  std::string_view rest_;
};

// A reply being put together.
class Reply {
 public:
  explicit Reply(std::string_view kind) : frame_(sizeof(uint32_t), '\0') { Bytes(kind); }

  Reply& Integer(int64_t value);
  Reply& Unsigned(uint64_t value) { return Integer(static_cast<int64_t>(value)); }
  Reply& Bytes(std::string_view value);
  // The whole frame, its length filled in. Where what was added does not fit into one, it says
  // `large` and how many bytes there were.
  const std::string& Frame();
  // The frame without its length: what a reply holds that stands inside another one.
  std::string_view Body() const { return std::string_view(frame_).substr(sizeof(uint32_t)); }

 private:
  // Whether so many bytes more fit; they are counted.
  bool HasRoom(size_t bytes);

  std::string frame_;
  size_t wanted_ = 0;  // bytes of the body, also of one that is too large
};

// Reads requests from and writes replies to two descriptors.
class Wire {
 public:
  // `unread` was read from `in` before.
  Wire(int in, int out, std::string unread = {})
      : in_(in), out_(out), buffer_(std::move(unread)), end_(buffer_.size()) {}

  // The body of the next request, valid until the next call; false at the end of the input.
  bool Receive(std::string_view* body);
  // Hands the request out again: it is the last one that was received.
  void PutBack(std::string_view body);
  // All that was read and not handed out, frame by frame.
  std::string Unread() const { return buffer_.substr(start_, end_ - start_); }
  // False where the client is gone.
  bool Send(Reply reply);

 private:
  bool Fill(size_t needed);
  // To be woken takes longer than most ops, so the host waits awake for the moment in which the
  // next request usually comes, as long as that was of use lately: where the processors are busy it
  // would only keep the client from running.
  void StayAwake();

  static constexpr int kPatience = 100;       // looks for a request: some twenty microseconds
  static constexpr unsigned kTryAgain = 256;  // requests
  int patience_ = kPatience;
  unsigned requests_ = 0;

  const int in_;
  const int out_;
  std::string buffer_;
  size_t start_ = 0;  // of what has not been handed out yet
  size_t end_;        // of what has been read
};

}  // namespace tffs

#endif  // TFFS_HOST_WIRE_H_
