// A shared library opened at run time, out of the way of the process's own symbols.
//
// TensorFlow exports a libcurl and a BoringSSL of its own under the usual names. A plugin that is
// linked to the system's in the ordinary way runs on TensorFlow's, with headers of one version and
// code of another. So libraries that TensorFlow has too are opened here, each in a scope of its
// own.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LIBRARY_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LIBRARY_H_

namespace objectstore {

class Library {
 public:
  // Throws Failure (FAILED_PRECONDITION) where there is no such library.
  explicit Library(const char* soname);

  // Sets `function` to what the library calls `name`. Throws Failure where it has none.
  template <typename Function>
  void Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(Symbol(name));
  }

 private:
  void* Symbol(const char* name) const;

  const char* soname_;
  void* handle_;  // never closed: libcurl and libcrypto leave things for the end of the process
};

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_LIBRARY_H_
