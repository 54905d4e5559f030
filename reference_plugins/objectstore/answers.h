// What the answers of a store and of a proxy mean for an op: a code, and whether to try again.

#ifndef TFFS_REFERENCE_PLUGINS_OBJECTSTORE_ANSWERS_H_
#define TFFS_REFERENCE_PLUGINS_OBJECTSTORE_ANSWERS_H_

#include <string>

#include "failure.h"
#include "http.h"

namespace objectstore {

// The S3 error code in an XML body, such as NoSuchKey, or nothing.
std::string ErrorCode(const std::string& body);

// What else the body says of an error: the text of this element, or nothing.
std::string ErrorDetail(const std::string& body, const char* element);

// Whether the status is this one, and no error is in the body: a store may begin with 200 before it
// knows how something ends.
bool Is(const Response& response, long status);

// What an S3 error code is to an op, whatever status it came with.
TF_Code MeaningOf(const std::string& error_code);

// Whether the same request may fare better in a while.
bool MayPass(const Response& response);

// Whether the server says that it did nothing, so that any request may be sent again.
bool DidNothing(const Response& response);

// For how many seconds the server wants to be left alone: Retry-After, in either of its forms.
double RetryAfter(const Response& response);

// An ETag as conditions ask for it. Who changes bytes on their way weakens it.
std::string Strong(std::string etag);
std::string StrongETag(const Response& response);

// What `who` answers, for a person.
std::string Told(const char* who, const Response& response);

// What an answer other than the hoped-for one is to an op. A status that was hoped for without what
// belongs to it is INTERNAL.
Failure Refusal(const Response& response, const char* who = "the store");

}  // namespace objectstore

#endif  // TFFS_REFERENCE_PLUGINS_OBJECTSTORE_ANSWERS_H_
