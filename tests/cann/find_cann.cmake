# Finds made-up installs of CANN: right ones, too old, broken, absent. Usage: cmake -DWORK=<folder> -P find_cann.cmake

# tree(<name> <version file> <line> <file>...): an install with a version and these files.
function(tree name version_file line)
  file(REMOVE_RECURSE "${WORK}/${name}")
  file(MAKE_DIRECTORY "${WORK}/${name}")
  if(version_file)
    file(WRITE "${WORK}/${name}/${version_file}" "# made up\n${line}\n")
  endif()
  foreach(file IN LISTS ARGN)
    file(WRITE "${WORK}/${name}/${file}" "")
  endforeach()
endfunction()

# expect(<TRUE|FALSE> <sentence> <setting>...): what FindCANN says with these variables of the environment.
function(expect finds sentence)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CANN_HOME --unset=ASCEND_TOOLKIT_HOME --unset=ASCEND_HOME_PATH ${ARGN}
      ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" --fresh "-DFINDS=${finds}" "-DEXPECTED=${sentence}"
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGN}: ${output}")
  endif()
endfunction()

set(whole include/acl/acl.h lib64/libascendcl.so)
set(info share/info/runtime/version.info)
tree(nine ${info} "version=9.2.0" ${whole})
tree(eight_five ${info} "Version=8.5.0.alpha001" ${whole})
tree(eight version.cfg "runtime_running_version=[7.5.0.1.129:8.0.RC3]" ${whole})
tree(eight_too ${info} "Version=7.6.0.1.220\nversion_dir=8.0.0" ${whole})
tree(old ${info} "Version=7.1.0.3.220\nversion_dir=7.0.0" ${whole})
tree(no_version "" "" ${whole})
tree(no_number ${info} "version=new" ${whole})
tree(no_header ${info} "version=9.0.0" lib64/libascendcl.so)
tree(no_library ${info} "version=9.0.0" include/acl/acl.h)

expect(TRUE "^CANN 9.2.0 in '.*/nine', whose HCCL API is of generation 9.x.$" "CANN_HOME=${WORK}/nine")
expect(TRUE "^CANN 8.5.0.alpha001 in .* generation 3.5.x.$" "ASCEND_TOOLKIT_HOME=${WORK}/eight_five")
expect(TRUE "^CANN 8.0.RC3 in .* generation 3.x.$" "ASCEND_HOME_PATH=${WORK}/eight")
expect(TRUE "^CANN 8.0.0 in .* generation 3.x.$" "ASCEND_HOME_PATH=${WORK}/eight_too")
expect(TRUE "^CANN 9.2.0 " "CANN_HOME=${WORK}/nine" "ASCEND_TOOLKIT_HOME=${WORK}/old")
expect(FALSE "is too old: it is 7.0.0, and 8.0 or newer is needed" "CANN_HOME=${WORK}/old")
expect(FALSE "is broken: neither share/info/runtime/version.info nor version.cfg" "CANN_HOME=${WORK}/no_version")
expect(FALSE "is broken: neither share/info/runtime/version.info nor version.cfg" "CANN_HOME=${WORK}/no_number")
expect(FALSE "is broken: it has no include/acl/acl.h" "CANN_HOME=${WORK}/no_header")
expect(FALSE "is broken: it has no lib64/libascendcl.so" "CANN_HOME=${WORK}/no_library")
expect(FALSE "'.*/nowhere' is not a folder" "CANN_HOME=${WORK}/nowhere")
expect(FALSE "none of CANN_HOME, ASCEND_TOOLKIT_HOME and ASCEND_HOME_PATH is set" "UNRELATED=1")
