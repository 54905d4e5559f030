#include "digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "failure.h"
#include "library.h"

namespace objectstore {
namespace {

// What is used of libcrypto. The headers give the types; the code is found at run time.
struct Crypto {
  Crypto() {
    const Library library("libcrypto.so.3");
    library.Find("EVP_MD_CTX_new", &create);
    library.Find("EVP_MD_CTX_free", &destroy);
    library.Find("EVP_DigestInit_ex", &init);
    library.Find("EVP_DigestUpdate", &update);
    library.Find("EVP_DigestFinal_ex", &final);
    library.Find("EVP_EncodeBlock", &base64);
    library.Find("HMAC", &hmac);
    library.Find("EVP_sha256", &sha256);
    library.Find("EVP_sha1", &sha1);
    library.Find("EVP_md5", &md5);
    // Threads may still be in ops when the process ends, and libcrypto would take away from them
    // what they use. Whoever asks for it first decides, which is here: libcurl comes later.
    decltype(&OPENSSL_init_crypto) begin;
    library.Find("OPENSSL_init_crypto", &begin);
    begin(OPENSSL_INIT_NO_ATEXIT, nullptr);
  }

  decltype(&EVP_MD_CTX_new) create;
  decltype(&EVP_MD_CTX_free) destroy;
  decltype(&EVP_DigestInit_ex) init;
  decltype(&EVP_DigestUpdate) update;
  decltype(&EVP_DigestFinal_ex) final;
  decltype(&EVP_EncodeBlock) base64;
  decltype(&HMAC) hmac;
  decltype(&EVP_sha256) sha256;
  decltype(&EVP_sha1) sha1;
  decltype(&EVP_md5) md5;
};

const Crypto& crypto() {
  static const Crypto functions;
  return functions;
}

void Demand(int done) {
  if (done != 1) throw Failure(TF_INTERNAL, "libcrypto refuses a digest");
}

const EVP_MD* Algorithm(Digest::Kind kind) {
  switch (kind) {
    case Digest::Kind::kMd5:
      return crypto().md5();
    case Digest::Kind::kSha1:
      return crypto().sha1();
    case Digest::Kind::kSha256:
      break;
  }
  return crypto().sha256();
}

}  // namespace

Digest::Digest(Kind kind) : context_(crypto().create(), crypto().destroy) {
  if (context_ == nullptr) throw std::bad_alloc();
  Demand(crypto().init(context_.get(), Algorithm(kind), nullptr));
}

void Digest::Add(const void* data, size_t length) {
  Demand(crypto().update(context_.get(), data, length));
}

std::string Digest::Result() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  Demand(crypto().final(context_.get(), bytes, &length));
  return std::string(reinterpret_cast<const char*>(bytes), length);
}

std::string Sha256(std::string_view data) {
  Digest digest(Digest::Kind::kSha256);
  digest.Add(data.data(), data.size());
  return digest.Result();
}

std::string HmacSha256(std::string_view key, std::string_view data) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (crypto().hmac(crypto().sha256(), key.data(), static_cast<int>(key.size()),
                    reinterpret_cast<const unsigned char*>(data.data()), data.size(), bytes,
                    &length) == nullptr) {
    throw Failure(TF_INTERNAL, "libcrypto refuses an HMAC");
  }
  return std::string(reinterpret_cast<const char*>(bytes), length);
}

std::string Sha256OfFile(int descriptor, uint64_t offset, uint64_t length) {
  Digest digest(Digest::Kind::kSha256);
  std::vector<char> block(1 << 20);
  while (length > 0) {
    const ssize_t got = pread(descriptor, block.data(),
                              static_cast<size_t>(std::min<uint64_t>(block.size(), length)),
                              static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Failure(TF_INTERNAL, "the spool cannot be read back");
    digest.Add(block.data(), static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
    length -= static_cast<uint64_t>(got);
  }
  return digest.Result();
}

std::string Md5(std::string_view data) {
  Digest digest(Digest::Kind::kMd5);
  digest.Add(data.data(), data.size());
  return digest.Result();
}

bool HasMd5() {
  static const bool has = [] {
    try {
      return !Md5("").empty();
    } catch (const Failure&) {
      return false;
    }
  }();
  return has;
}

std::string Base64(std::string_view bytes) {
  // Four characters for three bytes, and libcrypto adds a NUL.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = crypto().base64(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace objectstore
