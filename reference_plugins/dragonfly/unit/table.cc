#include "dragonfly/filesystem.h"
#include "unit/test.h"

unit::Table unit::TableUnderTest() { return {dragonfly::kScheme, dragonfly::FilesystemOps()}; }
