// What a user says of TLS: whom to trust, and who this is.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TLS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TLS_H_

#include <string>

namespace objectstore {

// Files in PEM's form; empty: none.
struct Tls {
  std::string ca_file;             // who signs the certificates of servers, instead of the system's
  std::string client_certificate;  // what a server that asks for one is shown
  std::string client_key;          // of the certificate; empty: in the same file
};

// Throws Failure (INVALID_ARGUMENT), with the key of the configuration, where a file is not what it
// should be: otherwise the first request would say so, and not which file.
void Demand(const Tls& tls);

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_TLS_H_
