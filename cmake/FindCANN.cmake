# FindCANN
# --------
# Finds Huawei's CANN where CANN_HOME, a variable of CMake or of the environment, else ASCEND_TOOLKIT_HOME or
# ASCEND_HOME_PATH of the environment says.
#
#   CANN_FOUND           whether it is there, whole, and new enough
#   CANN_ROOT            where
#   CANN_VERSION         as its own files say: 8.0.RC3, 9.2.0
#   CANN_API_GENERATION  which HCCL API that has: 3.x, 3.5.x or 9.x
#   CANN_STATUS          all that in one sentence, or what is missing
#   CANN::ascendcl       the runtime, with its headers

set(CANN_ROOT "")
foreach(place IN ITEMS "${CANN_HOME}" "$ENV{CANN_HOME}" "$ENV{ASCEND_TOOLKIT_HOME}" "$ENV{ASCEND_HOME_PATH}")
  if(place AND NOT CANN_ROOT)
    set(CANN_ROOT "${place}")
  endif()
endforeach()

# Reads the version from the first file that has one: newer installs have a folder for each package, older ones a file in
# the root.
set(CANN_VERSION "")
foreach(file IN ITEMS share/info/runtime/version.info share/info/hccl/version.info share/info/hcomm/version.info
    share/info/toolkit/version.info version.cfg version.info)
  if(CANN_ROOT AND NOT CANN_VERSION AND EXISTS "${CANN_ROOT}/${file}")
    # The version of CANN stands in version_dir, or behind that of the component: [7.6.0.1.220:8.0.0]; else there is only one.
    file(READ "${CANN_ROOT}/${file}" text)
    set(number "([0-9]+\\.[0-9]+(\\.[0-9A-Za-z]+)*)")
    foreach(pattern IN ITEMS "version_dir *= *${number}" "[Vv]ersion *= *\\[[^]:]*:${number}" "[Vv]ersion *= *${number}")
      if(NOT CANN_VERSION AND text MATCHES "${pattern}")
        set(CANN_VERSION "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endif()
endforeach()
string(REGEX MATCH "^[0-9]+\\.[0-9]+" numbers "${CANN_VERSION}")

find_path(CANN_INCLUDE_DIR acl/acl.h PATHS "${CANN_ROOT}/include" NO_DEFAULT_PATH NO_CACHE)
find_library(CANN_ASCENDCL_LIBRARY ascendcl PATHS "${CANN_ROOT}/lib64" "${CANN_ROOT}/lib" NO_DEFAULT_PATH NO_CACHE)

set(CANN_IS_WHOLE FALSE)
set(CANN_API_GENERATION "")
if(NOT CANN_ROOT)
  set(CANN_STATUS "No CANN: none of CANN_HOME, ASCEND_TOOLKIT_HOME and ASCEND_HOME_PATH is set.")
elseif(NOT IS_DIRECTORY "${CANN_ROOT}")
  set(CANN_STATUS "No CANN: '${CANN_ROOT}' is not a folder.")
elseif(NOT CANN_VERSION)
  set(CANN_STATUS "The CANN in '${CANN_ROOT}' is broken: neither share/info/runtime/version.info nor version.cfg tells its version.")
elseif(numbers VERSION_LESS 8.0)
  set(CANN_STATUS "The CANN in '${CANN_ROOT}' is too old: it is ${CANN_VERSION}, and 8.0 or newer is needed.")
elseif(NOT CANN_INCLUDE_DIR)
  set(CANN_STATUS "The CANN ${CANN_VERSION} in '${CANN_ROOT}' is broken: it has no include/acl/acl.h.")
elseif(NOT CANN_ASCENDCL_LIBRARY)
  set(CANN_STATUS "The CANN ${CANN_VERSION} in '${CANN_ROOT}' is broken: it has no lib64/libascendcl.so.")
else()
  set(CANN_IS_WHOLE TRUE)
  if(numbers VERSION_LESS 8.5)
    set(CANN_API_GENERATION 3.x)
  elseif(numbers VERSION_LESS 9.0)
    set(CANN_API_GENERATION 3.5.x)
  else()
    set(CANN_API_GENERATION 9.x)
  endif()
  set(CANN_STATUS "CANN ${CANN_VERSION} in '${CANN_ROOT}', whose HCCL API is of generation ${CANN_API_GENERATION}.")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CANN REQUIRED_VARS CANN_IS_WHOLE VERSION_VAR CANN_VERSION REASON_FAILURE_MESSAGE "${CANN_STATUS}")

if(CANN_FOUND AND NOT TARGET CANN::ascendcl)
  add_library(CANN::ascendcl UNKNOWN IMPORTED)
  set_target_properties(CANN::ascendcl PROPERTIES
    IMPORTED_LOCATION "${CANN_ASCENDCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CANN_INCLUDE_DIR}")
endif()
