// The one symbol that a filesystem plugin exports.

#include "ops.h"
#include "s3x.h"
#include "support/registration.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const support::Tables tables = {objectstore::S3xOps(), objectstore::RandomAccessFileOps(),
                                  objectstore::WritableFileOps(), objectstore::MemoryRegionOps()};
  support::Register(objectstore::kScheme, tables, info);
}
