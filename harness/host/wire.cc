#include "wire.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tffs {
namespace {

constexpr size_t kChunk = size_t{64} << 10;

// Frames are little endian, and so are the machines that plugins are built for.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// Waits where a plugin made the host's end of a pipe one that does not wait. False where that is
// not why nothing came of it.
bool Awaited(int descriptor, short event) {
  if (errno != EAGAIN) return false;
  pollfd there = {descriptor, event, 0};
  return poll(&there, 1, -1) > 0 || errno == EINTR;
}

}  // namespace

char Request::TakeTag() {
  if (rest_.empty()) throw BadRequest("an argument is missing");
  const char tag = rest_.front();
  rest_.remove_prefix(1);
  return tag;
}

int64_t Request::TakeInteger() {
  int64_t value;
  if (TakeTag() != 'i' || rest_.size() < sizeof value) throw BadRequest("an integer is expected");
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string_view Request::TakeBytes() {
  uint32_t length;
  if (TakeTag() != 's' || rest_.size() < sizeof length) throw BadRequest("bytes are expected");
  std::memcpy(&length, rest_.data(), sizeof length);
  rest_.remove_prefix(sizeof length);
  if (rest_.size() < length) throw BadRequest("a byte string ends after its frame");
  const std::string_view value = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return value;
}

std::string_view Request::TakeCommand() {
  try {
    return TakeBytes();
  } catch (const BadRequest&) {
    return {};
  }
}

bool Reply::HasRoom(size_t bytes) {
  wanted_ += bytes;
  return wanted_ <= kLargestBody;
}

Reply& Reply::Integer(int64_t value) {
  if (!HasRoom(1 + sizeof value)) return *this;
  frame_ += 'i';
  frame_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

Reply& Reply::Bytes(std::string_view value) {
  const auto length = static_cast<uint32_t>(value.size());
  if (!HasRoom(1 + sizeof length + value.size())) return *this;
  frame_ += 's';
  frame_.append(reinterpret_cast<const char*>(&length), sizeof length);
  frame_ += value;
  return *this;
}

const std::string& Reply::Frame() {
  if (wanted_ > kLargestBody) {
    const size_t bytes = wanted_;
    *this = std::move(Reply("large").Unsigned(bytes));
  }
  const auto length = static_cast<uint32_t>(frame_.size() - sizeof(uint32_t));
  std::memcpy(frame_.data(), &length, sizeof length);
  return frame_;
}

bool Wire::Fill(size_t needed) {
  if (end_ - start_ >= needed) return true;
  std::memmove(buffer_.data(), buffer_.data() + start_, end_ - start_);
  end_ -= start_;
  start_ = 0;
  // It never shrinks: to clear a large buffer for every request costs more than most ops.
  if (buffer_.size() < std::max(needed, kChunk)) buffer_.resize(std::max(needed, kChunk));
  StayAwake();
  while (end_ < needed) {
    const ssize_t got = read(in_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && (errno == EINTR || Awaited(in_, POLLIN))) continue;
    if (got <= 0) return false;
    end_ += static_cast<size_t>(got);
  }
  return true;
}

bool Wire::Receive(std::string_view* body) {
  uint32_t length;
  if (!Fill(sizeof length)) return false;
  std::memcpy(&length, buffer_.data() + start_, sizeof length);
  if (length > kLargestBody || !Fill(sizeof length + length)) return false;
  *body = std::string_view(buffer_).substr(start_ + sizeof length, length);
  start_ += sizeof length + length;
  return true;
}

void Wire::StayAwake() {
  const int patience = ++requests_ % kTryAgain == 0 ? kPatience : patience_;
  pollfd there = {in_, POLLIN, 0};
  for (int k = 0; k < patience; ++k) {
    if (poll(&there, 1, 0) == 0) continue;
    patience_ = kPatience;
    return;
  }
  patience_ = patience / 2;
}

void Wire::PutBack(std::string_view body) { start_ -= sizeof(uint32_t) + body.size(); }

bool Wire::Send(Reply reply) {
  std::string_view rest = reply.Frame();
  while (!rest.empty()) {
    const ssize_t put = write(out_, rest.data(), rest.size());
    if (put < 0 && (errno == EINTR || Awaited(out_, POLLOUT))) continue;
    if (put < 0) return false;
    rest.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace tffs
