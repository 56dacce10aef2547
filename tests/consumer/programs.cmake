# The programs of both consumer projects. WITH_TCP=OFF stands for a user who has no Boost, WITH_TUNING=OFF for one who
# has no nlohmann/json.
option(WITH_TCP "Use hccl::tcp too" ON)
option(WITH_TUNING "Use hccl::tuning too" ON)
enable_testing()
set(sources "${CMAKE_CURRENT_LIST_DIR}")

add_executable(core "${sources}/core.cpp" "${sources}/second_unit.cpp")
target_link_libraries(core PRIVATE hccl::hccl)
add_test(NAME core COMMAND core)

add_executable(acl_sim "${sources}/acl_sim.cpp")
target_link_libraries(acl_sim PRIVATE hccl::acl_sim)
add_test(NAME acl_sim COMMAND acl_sim)

add_executable(ascend "${sources}/ascend.cpp")
target_link_libraries(ascend PRIVATE hccl::ascend)
add_test(NAME ascend COMMAND ascend)

if(WITH_TCP)
  add_executable(tcp "${sources}/tcp.cpp")
  target_link_libraries(tcp PRIVATE hccl::tcp)
  add_test(NAME tcp COMMAND tcp)
endif()

if(WITH_TUNING)
  add_executable(tuning "${sources}/tuning.cpp")
  target_link_libraries(tuning PRIVATE hccl::tuning)
  add_test(NAME tuning COMMAND tuning)
endif()

if(WITH_TCP AND WITH_TUNING)  # it needs both
  enable_language(C)
  foreach(library IN ITEMS c_api c_api_static)
    add_executable(${library} "${sources}/c_api.c")
    target_link_libraries(${library} PRIVATE hccl::${library})
    add_test(NAME ${library} COMMAND ${library})
  endforeach()
endif()
