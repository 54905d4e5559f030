// What all buckets have in common: which one it is, and how keys are spelt.

#include "bucket.h"

#include <unistd.h>

#include <cstdlib>

namespace objectstore_minimal {

constexpr char kDigits[] = "0123456789ABCDEFabcdef";

std::shared_ptr<const Bucket> OpenBucket() {
  const char* chosen = std::getenv("TFFS_BUCKET");
  const std::string name =
      chosen != nullptr ? chosen : "/tmp/tffs-bucket-" + std::to_string(getuid());
  if (name.rfind("http://", 0) != 0 && name.rfind("https://", 0) != 0) return OpenDirectory(name);
#ifdef TFFS_HAS_CURL
  return OpenHttp(name);
#else
  throw Failure(TF_FAILED_PRECONDITION,
                "TFFS_BUCKET is a URL, and this plugin was built without libcurl");
#endif
}

// Byte by byte, so that a key that begins with another one does so encoded, too.
std::string Encoded(std::string_view text, std::string_view plain) {
  std::string encoded;
  for (const char byte : text) {
    const bool is_letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';
    if (is_letter || (byte >= '0' && byte <= '9') || plain.find(byte) != std::string_view::npos) {
      encoded += byte;
    } else {
      const auto value = static_cast<unsigned char>(byte);
      encoded += {'%', kDigits[value >> 4], kDigits[value & 15]};
    }
  }
  return encoded;
}

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t k = 0; k < text.size(); ++k) {
    decoded += text[k] == '+' ? ' ' : text[k];
    if (text[k] != '%') continue;
    const std::string digits(text.substr(k + 1, 2));
    if (digits.size() < 2 || digits.find_first_not_of(kDigits) != std::string::npos) {
      throw Failure(TF_INTERNAL, "the store spells a key wrongly");
    }
    decoded.back() = static_cast<char>(std::stoi(digits, nullptr, 16));
    k += 2;
  }
  return decoded;
}

}  // namespace objectstore_minimal
