# The commit that this is built from, for the reports of the installed package (tffs_conformance/run/commit.py). Where the
# sources are no clone, as in an sdist, the variable TFFS_COMMIT of the environment may name it.
set(commit unknown)
if(DEFINED ENV{TFFS_COMMIT})
  set(commit $ENV{TFFS_COMMIT})
elseif(EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(
    COMMAND git describe --always --abbrev=40 --exclude=* --dirty
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE described
    RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(WRITE ${CMAKE_BINARY_DIR}/commit.txt "${commit}\n")
install(FILES ${CMAKE_BINARY_DIR}/commit.txt DESTINATION tffs_conformance)
