#include "unit/table.h"

#include "dragonfly/filesystem.h"

unit::Table unit::TableUnderTest() {
  return {dragonfly::kScheme, "DRAGONFLY_CONFIG_PATH", dragonfly::FilesystemOps()};
}
