#include "checksum.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "answers.h"
#include "text.h"

namespace objectstore {
namespace {

constexpr std::pair<const char*, Sum> kHeaders[] = {{"x-amz-checksum-crc64nvme", Sum::kCrc64Nvme},
                                                    {"x-amz-checksum-crc32c", Sum::kCrc32c},
                                                    {"x-amz-checksum-crc32", Sum::kCrc32},
                                                    {"x-amz-checksum-sha256", Sum::kSha256},
                                                    {"x-amz-checksum-sha1", Sum::kSha1}};

// An ETag is the MD5 of the content where the object was put in one go and is not encrypted with a
// key of its own. S3 marks those in parts with a dash.
bool IsMd5(const std::string& etag, const Response& response) {
  const std::string encryption = response.Header("x-amz-server-side-encryption");
  return LooksLikeMd5(etag) && (encryption.empty() || encryption == "AES256") &&
         response.Header("x-amz-server-side-encryption-customer-algorithm").empty();
}

}  // namespace

std::string Bare(std::string etag) {
  etag = Strong(std::move(etag));
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

Checksum ChecksumOf(const Response& response) {
  if (response.Header("x-amz-checksum-type") != "COMPOSITE") {
    for (const auto& [name, sum] : kHeaders) {
      const std::string text = response.Header(name);
      // Of an upload in parts: a sum of sums, and their number behind a dash.
      if (!text.empty() && text.find('-') == std::string::npos) return {sum, text};
    }
  }
  std::string etag = Bare(response.Header("etag"));
  if (IsMd5(etag, response) && HasMd5()) return {Sum::kMd5, std::move(etag)};
  return {};
}

Adder::Adder(Sum sum) : in_hex_(sum == Sum::kMd5) {
  switch (sum) {
    case Sum::kNone:
      break;
    case Sum::kCrc64Nvme:
      state_.emplace<Crc64Nvme>();
      break;
    case Sum::kCrc32c:
      state_.emplace<Crc32c>();
      break;
    case Sum::kCrc32:
      state_.emplace<Crc32>();
      break;
    case Sum::kSha256:
      state_.emplace<Digest>(Digest::Kind::kSha256);
      break;
    case Sum::kSha1:
      state_.emplace<Digest>(Digest::Kind::kSha1);
      break;
    case Sum::kMd5:
      state_.emplace<Digest>(Digest::Kind::kMd5);
      break;
  }
}

void Adder::Add(const char* data, size_t n) {
  std::visit(
      [&](auto& state) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(state)>, std::monostate>) {
          state.Add(data, n);
        }
      },
      state_);
}

std::string Adder::Text() {
  return std::visit(
      [&](auto& state) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(state)>, std::monostate>) {
          return "";
        } else {
          const std::string bytes = state.Result();
          return in_hex_ ? Hex(bytes) : Base64(bytes);
        }
      },
      state_);
}

bool IsOf(const Checksum& checksum, const Spool& content) {
  if (checksum.sum == Sum::kNone) return false;
  Adder adder(checksum.sum);
  std::vector<char> block(1 << 20);
  for (uint64_t done = 0; done < content.size();) {
    const size_t got = content.Read(done, block.size(), block.data());
    adder.Add(block.data(), got);
    done += got;
  }
  return adder.Text() == checksum.text;
}

}  // namespace objectstore
