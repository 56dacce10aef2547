# cmake -DCOMPILE=<command> -DSOURCE=<file> -P vectorised.cmake: compiles the file at -O2 to x86-64 assembly and checks that
# each instance of hccl::apply has packed arithmetic in it. The one for bool only forwards to another.
execute_process(COMMAND ${COMPILE} -O2 -S -o - "${SOURCE}" RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "It does not compile:\n${errors}")
endif()

# A register is set to zero by an exclusive or with itself.
foreach(i RANGE 15)
  string(REGEX REPLACE "\tv?p?xor(ps|pd)?\t(%xmm${i}, )+%xmm${i}\n" "" text "${text}")
endforeach()

# One list element per function: its name, a newline, its body.
string(REPLACE ";" "," text "${text}")
string(REPLACE "[" "(" text "${text}")
string(REPLACE "]" ")" text "${text}")
string(REGEX REPLACE "\n(_ZN4hccl2v05applyI[A-Za-z0-9_.]+):" ";\\1\n" functions "${text}")
list(POP_FRONT functions)
list(FILTER functions EXCLUDE REGEX "^_ZN4hccl2v05applyILNS0_13operand_orderE0Eb")
list(LENGTH functions count)
if(count LESS 100)
  message(FATAL_ERROR "Only ${count} instances found")
endif()

set(packed "\tv?((add|sub|mul|and|or|xor|andn|cmp[a-z]*)p[sd]|p(add|sub|mul|and|or|xor|min|max|cmp)[a-z]*)\t")
foreach(function IN LISTS functions)
  string(REGEX MATCH "^[A-Za-z0-9_.]+" name "${function}")
  string(REGEX REPLACE "\n[ \t]*\\.size\t.*" "" body "${function}")
  if(NOT body MATCHES "${packed}")
    message(SEND_ERROR "${name} is not vectorised")
  endif()
endforeach()
message(STATUS "${count} instances are vectorised")
