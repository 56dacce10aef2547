# cmake -P check_lists.cmake: compares the lists that people keep by hand with the files on disk.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
include("${root}/cmake/headers.cmake")


# Each header is in exactly one file set.
file(GLOB_RECURSE on_disk RELATIVE "${root}/include" "${root}/include/*")
set(listed ${HCCLPP_CORE_HEADERS} ${HCCLPP_TUNING_HEADERS} ${HCCLPP_TCP_HEADERS} ${HCCLPP_ASCEND_HEADERS}
  ${HCCLPP_ACL_SIM_HEADERS} ${HCCLPP_C_API_HEADERS})
foreach(header IN LISTS on_disk)
  set(times ${listed})
  list(FILTER times INCLUDE REGEX "^${header}$")
  list(LENGTH times count)
  if(NOT count EQUAL 1)
    message(SEND_ERROR "include/${header} stands ${count} times in cmake/headers.cmake")
  endif()
endforeach()

# Each umbrella header includes every public header of its folders, but for those that cost more than the rest.
set(apart hccl/collective/async.hpp hccl/collective/queue.hpp)
function(check_umbrella umbrella)
  file(READ "${root}/include/hccl/${umbrella}" text)
  foreach(folder IN LISTS ARGN)
    file(GLOB headers RELATIVE "${root}/include" "${root}/include/hccl/${folder}/*.hpp")
    list(REMOVE_ITEM headers "hccl/${umbrella}" ${apart})
    foreach(header IN LISTS headers)
      if(NOT text MATCHES "#include <${header}>")
        message(SEND_ERROR "include/hccl/${umbrella} does not include <${header}>")
      endif()
    endforeach()
  endforeach()
endfunction()
check_umbrella(collectives.hpp collective)
check_umbrella(algorithm/algorithms.hpp algorithm)
check_umbrella(reduction/reductions.hpp reduction)

# Each test file is built.
file(READ "${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt" text)
file(GLOB_RECURSE units RELATIVE "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_LIST_DIR}/*.test.cpp")
foreach(file IN LISTS units)
  string(REPLACE ".test.cpp" "" unit "${file}")
  if(NOT text MATCHES "[ (\n]${unit}[ )\n]")
    message(SEND_ERROR "tests/${file} is not listed in tests/CMakeLists.txt")
  endif()
endforeach()
