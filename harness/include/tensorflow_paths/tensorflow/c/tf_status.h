#include "../../../tf_filesystem_plugin.h"
