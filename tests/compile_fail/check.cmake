# cmake -DCOMPILE=<command> -DSOURCE=<file> -DSECTION=<macro> -P check.cmake: see CMakeLists.txt.
file(READ "${SOURCE}" text)
execute_process(COMMAND ${COMPILE} -D${SECTION} "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(SECTION STREQUAL "CONTROL")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The control section does not compile:\n${output}")
  endif()
  return()
endif()

if(NOT text MATCHES "defined\\(${SECTION}\\) *// expect: ([^\n]+)")
  message(FATAL_ERROR "${SOURCE}: ${SECTION} does not say what to expect")
endif()
set(expected "${CMAKE_MATCH_1}")
if(status EQUAL 0)
  message(FATAL_ERROR "${SECTION} compiles, but should fail with: ${expected}")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${SECTION} should fail with: ${expected}\nThe compiler said:\n${output}")
endif()
