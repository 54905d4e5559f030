#include "tls.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "failure.h"
#include "library.h"

namespace objectstore {
namespace {

// What is used of libcrypto. The headers give the types; the code is found at run time.
struct LibCrypto {
  LibCrypto() {
    const Library library("libcrypto.so.3");
    library.Find("BIO_new_file", &open);
    library.Find("BIO_free", &close);
    library.Find("PEM_read_bio_X509", &read_certificate);
    library.Find("X509_free", &free_certificate);
    library.Find("PEM_read_bio_PrivateKey", &read_key);
    library.Find("EVP_PKEY_free", &free_key);
    library.Find("X509_check_private_key", &belong_together);
  }

  decltype(&BIO_new_file) open;
  decltype(&BIO_free) close;
  decltype(&PEM_read_bio_X509) read_certificate;
  decltype(&X509_free) free_certificate;
  decltype(&PEM_read_bio_PrivateKey) read_key;
  decltype(&EVP_PKEY_free) free_key;
  decltype(&X509_check_private_key) belong_together;
};

[[noreturn]] void Refuse(const char* key, const std::string& why) {
  throw Failure(TF_INVALID_ARGUMENT, std::string("the key ") + key + " " + why);
}

using File = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// libcrypto would ask for a password on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

File Open(const LibCrypto& crypto, const char* key, const std::string& path) {
  File file(crypto.open(path.c_str(), "r"), crypto.close);
  if (file == nullptr) Refuse(key, "names " + path + ", which cannot be read");
  return file;
}

Certificate ReadCertificate(const LibCrypto& crypto, const char* key, const std::string& path) {
  const File file = Open(crypto, key, path);
  Certificate certificate(crypto.read_certificate(file.get(), nullptr, NoPassword, nullptr),
                          crypto.free_certificate);
  if (certificate == nullptr) Refuse(key, "names " + path + ", which is no certificate (PEM)");
  return certificate;
}

}  // namespace

void Demand(const Tls& tls) {
  if (tls.ca_file.empty() && tls.client_certificate.empty() && tls.client_key.empty()) return;
  const LibCrypto crypto;
  if (!tls.ca_file.empty()) ReadCertificate(crypto, "ca_file", tls.ca_file);
  if (tls.client_certificate.empty()) {
    if (!tls.client_key.empty()) Refuse("client_key", "is given without client_certificate");
    return;
  }
  const Certificate certificate =
      ReadCertificate(crypto, "client_certificate", tls.client_certificate);
  const std::string& path = tls.client_key.empty() ? tls.client_certificate : tls.client_key;
  const File file = Open(crypto, "client_key", path);
  const Key key(crypto.read_key(file.get(), nullptr, NoPassword, nullptr), crypto.free_key);
  if (key == nullptr)
    Refuse("client_key", "names " + path + ", which is no key without password (PEM)");
  if (crypto.belong_together(certificate.get(), key.get()) != 1) {
    Refuse("client_key", "names " + path + ", which is not the key of client_certificate");
  }
}

}  // namespace objectstore
