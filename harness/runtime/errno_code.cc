#include "errno_code.h"

#include <cerrno>

namespace tffs {

// The table is the one that TensorFlow 2.21 shows when it is asked for every value.
TF_Code CodeOfErrno(int error_code) {
  switch (error_code) {
    case 0:
      return TF_OK;
    case ENOENT:
    case ESRCH:
    case ENXIO:
    case ENODEV:
      return TF_NOT_FOUND;
    case EEXIST:
    case EADDRNOTAVAIL:
    case EALREADY:
      return TF_ALREADY_EXISTS;
    case EPERM:
    case EACCES:
    case EROFS:
      return TF_PERMISSION_DENIED;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case EBUSY:
    case EBADF:
    case EPIPE:
    case ETXTBSY:
    case ECHILD:
    case ENOTBLK:
    case EADDRINUSE:
    case EISCONN:
    case ENOTCONN:
    case ESHUTDOWN:
      return TF_FAILED_PRECONDITION;
    case EINVAL:
    case ENAMETOOLONG:
    case E2BIG:
    case EDESTADDRREQ:
    case EDOM:
    case EFAULT:
    case EILSEQ:
    case ENOPROTOOPT:
    case ENOSTR:
    case ENOTSOCK:
    case ENOTTY:
    case EPROTOTYPE:
    case ESPIPE:
      return TF_INVALID_ARGUMENT;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EMLINK:
    case ENOBUFS:
    case ENODATA:
    case ENOMEM:
    case ENOSR:
    case EUSERS:
      return TF_RESOURCE_EXHAUSTED;
    case EINTR:
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNABORTED:
    case ECONNRESET:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETRESET:
    case ENETUNREACH:
    case ENOLCK:
    case ENOLINK:
    case ENONET:
      return TF_UNAVAILABLE;
    case ETIME:
    case ETIMEDOUT:
      return TF_DEADLINE_EXCEEDED;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE:
      return TF_OUT_OF_RANGE;
    case EXDEV:
    case ENOSYS:
    case ENOTSUP:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EPFNOSUPPORT:
    case EAFNOSUPPORT:
      return TF_UNIMPLEMENTED;
    case EDEADLK:
    case ESTALE:
      return TF_ABORTED;
    case ECANCELED:
      return TF_CANCELLED;
    default:
      return TF_UNKNOWN;
  }
}

}  // namespace tffs
