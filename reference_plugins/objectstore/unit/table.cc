#include "table.h"

#include "s3x.h"

unit::Table unit::TableUnderTest() {
  return {objectstore::kScheme, "S3X_CONFIG_PATH", objectstore::S3xOps()};
}
