# From 1.0 on a version keeps what an earlier one of the same major number promised.
set(PACKAGE_VERSION 1.0.0)

set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
string(REGEX MATCH "^[0-9]+" _tffs_conformance_major "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION
    AND NOT PACKAGE_FIND_VERSION VERSION_LESS _tffs_conformance_major)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
unset(_tffs_conformance_major)
