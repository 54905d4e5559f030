// What the answers of a store and of dfdaemon mean for an op: a code, and whether to try again.

#ifndef TFFS_REFERENCE_PLUGINS_DRAGONFLY_ANSWERS_H_
#define TFFS_REFERENCE_PLUGINS_DRAGONFLY_ANSWERS_H_

#include <string>

#include "failure.h"
#include "http.h"

namespace dragonfly {

// The S3 error code in an XML body, such as NoSuchKey, or nothing.
std::string ErrorCode(const std::string& body);

// Whether the same request may fare better in a while.
bool MayPass(const Response& response);

// Whether the server says that it did nothing, so that any request may be sent again.
bool DidNothing(const Response& response);

// What an answer other than the hoped-for one is to an op.
Failure Refusal(const Response& response, bool by_proxy);

}  // namespace dragonfly

#endif  // TFFS_REFERENCE_PLUGINS_DRAGONFLY_ANSWERS_H_
