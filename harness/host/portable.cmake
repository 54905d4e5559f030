# The host as one file that other machines run (docs/ci.md): it needs glibc 2.28, no C++ library, and has the
# runtime inside. The toolchain is the `ziglang` package of Python, which brings the C++ library and glibc's symbols.
find_package(Python3 COMPONENTS Interpreter QUIET)
set(TFFS_ZIG "${Python3_EXECUTABLE}" -m ziglang)
if(NOT DEFINED TFFS_PORTABLE_HOST AND Python3_FOUND)
  execute_process(COMMAND ${TFFS_ZIG} version RESULT_VARIABLE TFFS_NO_ZIG OUTPUT_QUIET ERROR_QUIET)
  if(TFFS_NO_ZIG EQUAL 0)
    set(TFFS_PORTABLE_HOST ON)
  endif()
endif()
option(TFFS_PORTABLE_HOST "Build the host as one file for other machines, where Python has the package ziglang" OFF)
if(NOT TFFS_PORTABLE_HOST)
  return()
endif()

set(compile ${TFFS_ZIG} c++ -target ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.2.28 -std=c++17 -O2 -g0 -s -fPIC
  -fvisibility=hidden -fno-sanitize=undefined -I${PROJECT_SOURCE_DIR}/harness/include)
set(runtime ${CMAKE_CURRENT_BINARY_DIR}/portable/libtensorflow_framework.so.2)
set(host ${CMAKE_CURRENT_BINARY_DIR}/portable/tffs-host)
get_target_property(runtime_directory tensorflow_framework SOURCE_DIR)
get_target_property(runtime_sources tensorflow_framework SOURCES)
list(TRANSFORM runtime_sources PREPEND ${runtime_directory}/)
list(TRANSFORM TFFS_HOST_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE host_sources)
set(inside ${CMAKE_CURRENT_BINARY_DIR}/portable/runtime_inside.o)
set(runtime_files ${runtime_sources})
set(host_files ${host_sources})
list(FILTER runtime_files INCLUDE REGEX "\\.cc$")
list(FILTER host_files INCLUDE REGEX "\\.cc$")

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/portable)
add_custom_command(OUTPUT ${runtime}
  COMMAND ${compile} -fvisibility=default -shared -Wl,-soname,libtensorflow_framework.so.2
    -Wl,--version-script=${runtime_directory}/exports.map ${runtime_files} -o ${runtime}
  DEPENDS ${runtime_sources} ${runtime_directory}/exports.map
  VERBATIM)
# Apart, for the toolchain keeps what it compiled by the options, and this one changes with the build directory.
add_custom_command(OUTPUT ${inside}
  COMMAND ${compile} -Wno-c23-extensions "-DTFFS_RUNTIME_FILE=\"${runtime}\""
    -c ${CMAKE_CURRENT_SOURCE_DIR}/runtime_inside.cc -o ${inside}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime_inside.cc ${runtime}
  VERBATIM)
add_custom_command(OUTPUT ${host}
  COMMAND ${compile} ${host_files} ${inside} -o ${host}
  DEPENDS ${host_sources} ${inside}
  VERBATIM)
add_custom_target(tffs-portable-host ALL DEPENDS ${host})
install(PROGRAMS ${host} DESTINATION ${TFFS_NATIVE_DIR}/portable)
