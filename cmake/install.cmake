# Installs the package: find_package(hccl 0.1) gives the core, with COMPONENTS tcp, tuning, ascend, acl_sim or c_api it
# gives hccl::tcp, hccl::tuning, hccl::ascend, hccl::acl_sim or hccl::c_api as well.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/hccl)

# One export per component: who asks for the core alone never meets Boost.
install(TARGETS hccl EXPORT hccl-targets FILE_SET HEADERS)
install(TARGETS hccl_tuning EXPORT hccl-tuning-targets FILE_SET HEADERS)
install(TARGETS hccl_tcp EXPORT hccl-tcp-targets FILE_SET HEADERS)
install(TARGETS hccl_acl_sim EXPORT hccl-acl_sim-targets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/acl_sim)
install(TARGETS hccl_ascend EXPORT hccl-ascend-targets FILE_SET HEADERS)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/FindCANN.cmake" DESTINATION ${package_dir})
set(exports hccl-targets hccl-tuning-targets hccl-tcp-targets hccl-acl_sim-targets hccl-ascend-targets)
if(TARGET hccl_c_api)
  install(TARGETS hccl_c_api hccl_c_api_static EXPORT hccl-c_api-targets
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/compat)
  list(APPEND exports hccl-c_api-targets)
endif()
foreach(export IN LISTS exports)
  install(EXPORT ${export} NAMESPACE hccl:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/hccl-config.cmake.in" "${PROJECT_BINARY_DIR}/hccl-config.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/hccl-config-version.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(
  FILES "${PROJECT_BINARY_DIR}/hccl-config.cmake" "${PROJECT_BINARY_DIR}/hccl-config-version.cmake"
  DESTINATION ${package_dir})

foreach(program IN ITEMS hcclrun hccl-info)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
