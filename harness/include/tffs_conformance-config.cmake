# find_package(tffs_conformance) gives the target tffs_conformance::headers: TensorFlow's interface for filesystem plugins.
#
# cmake -G Ninja -Dtffs_conformance_DIR="$(tffs-conformance config --cmakedir)" ...
if(NOT TARGET tffs_conformance::headers)
  add_library(tffs_conformance::headers INTERFACE IMPORTED)
  get_filename_component(_tffs_conformance_headers "${CMAKE_CURRENT_LIST_DIR}/../../harness/include" ABSOLUTE)
  set_target_properties(tffs_conformance::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tffs_conformance_headers}")
  unset(_tffs_conformance_headers)
endif()
