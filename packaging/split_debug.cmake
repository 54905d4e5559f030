# The end of an install: debug information moves out of what was installed into TFFS_DEBUG_DIR, where a debugger finds it by
# the name and checksum that are left. Symbols stay: a backtrace without these files still names functions.
foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  set(installed "$ENV{DESTDIR}${file}")
  file(READ "${installed}" magic LIMIT 4 HEX)
  if(NOT magic STREQUAL "7f454c46")
    continue()
  endif()
  get_filename_component(name "${file}" NAME)
  set(debug "${TFFS_DEBUG_DIR}/${name}.debug")
  file(MAKE_DIRECTORY "${TFFS_DEBUG_DIR}")
  execute_process(
    COMMAND "${TFFS_OBJCOPY}" --only-keep-debug --compress-debug-sections "${installed}" "${debug}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND "${TFFS_OBJCOPY}" --strip-debug "--add-gnu-debuglink=${debug}" "${installed}"
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
