// SHA-256, SHA-1, MD5 and HMAC, by OpenSSL's libcrypto.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DIGEST_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DIGEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // libcrypto's EVP_MD_CTX

namespace objectstore {

// A digest of bytes that come piece by piece. All of it throws Failure where libcrypto refuses.
class Digest {
 public:
  enum class Kind { kMd5, kSha1, kSha256 };

  explicit Digest(Kind kind);
  void Add(const void* data, size_t length);

  // The bytes of the digest; nothing is added after that.
  std::string Result();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// 32 bytes each.
std::string Sha256(std::string_view data);
std::string HmacSha256(std::string_view key, std::string_view data);

// Of `length` bytes of a file from `offset` on. Throws Failure where they cannot be read.
std::string Sha256OfFile(int descriptor, uint64_t offset, uint64_t length);

// 16 bytes. Where the system keeps to FIPS there is none.
std::string Md5(std::string_view data);
bool HasMd5();

std::string Base64(std::string_view bytes);

// In lower case.
std::string Hex(std::string_view bytes);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_DIGEST_H_
