# cmake -DCOMPILE="compiler;flags" -P check_front_door.cmake: <hccl/collectives.hpp> pulls in no Asio, fmt,
# socket or other heavy header.
execute_process(
  COMMAND ${COMPILE} -M -include hccl/collectives.hpp -x c++ /dev/null
  OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
if(NOT headers MATCHES "hccl/collective/allreduce.hpp")
  message(FATAL_ERROR "the compiler lists no headers:\n${headers}")
endif()

string(REGEX MATCHALL "[^ \\\n]+" headers "${headers}")
set(standard "/c\\+\\+/[0-9.]+/(iostream|fstream|regex|filesystem)$")
set(network "/boost/|asio|/fmt/|/socket\\.h|/netdb\\.h|/netinet/|/arpa/|hccl/transport/tcp")
list(FILTER headers INCLUDE REGEX "${network}|${standard}")
foreach(header IN LISTS headers)
  message(SEND_ERROR "hccl/collectives.hpp pulls in ${header}")
endforeach()
