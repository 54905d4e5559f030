# A toolchain for the release: clang and libc++ as the PyPI package `ziglang` brings them. What is built runs on glibc 2.28
# and later, and has its C++ library inside. An ordinary build uses the machine's own compiler instead.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(TFFS_GLIBC 2.28)

if(NOT TFFS_ZIG)
  execute_process(COMMAND python3 -c "import ziglang; print(next(iter(ziglang.__path__)))"
    OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "no zig: python3 -m pip install ziglang, or say where it is with -DTFFS_ZIG=")
  endif()
  set(TFFS_ZIG ${package}/zig CACHE FILEPATH "The zig executable")
endif()
get_filename_component(zig_directory ${TFFS_ZIG} DIRECTORY)
# What CMake compiles to learn about the compiler is compiled by the same one.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TFFS_ZIG)

set(CMAKE_C_COMPILER ${TFFS_ZIG} cc)
set(CMAKE_CXX_COMPILER ${TFFS_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET x86_64-linux-gnu.${TFFS_GLIBC})
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-gnu.${TFFS_GLIBC})
# zig has a cache of its own, and ccache takes `c++` for a source file.
set(TFFS_CCACHE OFF CACHE BOOL "")
unset(ENV{CMAKE_C_COMPILER_LAUNCHER})
unset(ENV{CMAKE_CXX_COMPILER_LAUNCHER})

# Headers and libraries of this machine are of its own glibc: nothing is looked for but in CMAKE_PREFIX_PATH.
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH ON)

# glue.c says what is linked into all C++, and why.
set(glue ${CMAKE_BINARY_DIR}/glue.o)
if(NOT EXISTS ${glue} OR ${CMAKE_CURRENT_LIST_DIR}/glue.c IS_NEWER_THAN ${glue})
  execute_process(
    COMMAND ${TFFS_ZIG} cc --target=${CMAKE_C_COMPILER_TARGET} -O2 -fPIC -fexceptions -ffile-prefix-map=${CMAKE_CURRENT_LIST_DIR}=.
      -c ${CMAKE_CURRENT_LIST_DIR}/glue.c -o ${glue}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
set(CMAKE_CXX_FLAGS_INIT "-include ${CMAKE_CURRENT_LIST_DIR}/glue.h")
add_link_options("$<$<LINK_LANGUAGE:CXX>:${glue};-Wl,--wrap=__gxx_personality_v0>")

# zig's own headers are named as what they are, wherever it lies.
add_compile_options(-ffile-prefix-map=${zig_directory}=/zig)
