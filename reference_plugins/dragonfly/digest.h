// SHA-256, HMAC and MD5, by OpenSSL's libcrypto.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_DIGEST_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_DIGEST_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace dragonfly {

// 32 bytes each.
std::string Sha256(std::string_view data);
std::string HmacSha256(std::string_view key, std::string_view data);

// Of `length` bytes of a file from `offset` on. Throws Failure where they cannot be read.
std::string Sha256OfFile(int descriptor, uint64_t offset, uint64_t length);

// In base64, as Content-MD5 has it.
std::string Md5InBase64(std::string_view data);

// In lower case.
std::string Hex(std::string_view bytes);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_DIGEST_H_
