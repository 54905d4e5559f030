#include "s3x.h"
#include "test.h"

unit::Table unit::TableUnderTest() { return {objectstore::kScheme, objectstore::S3xOps()}; }
