// In front of every C++ source that the release toolchain (zig.cmake) compiles: what libstdc++ has
// and libc++ lacks.

#ifndef TFFS_PACKAGING_GLUE_H_
#define TFFS_PACKAGING_GLUE_H_

namespace __cxxabiv1 {

// What pthread_exit unwinds with. libc++ never lets `catch (...)` stop it, so nothing has this
// type.
class __forced_unwind {
  virtual ~__forced_unwind() = 0;
};

}  // namespace __cxxabiv1

#endif  // TFFS_PACKAGING_GLUE_H_
