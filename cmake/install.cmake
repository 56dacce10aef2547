# Installs the package: find_package(hccl 0.1) gives the core, with COMPONENTS tcp or tuning it gives
# hccl::tcp or hccl::tuning as well.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/hccl)

# One export per component: who asks for the core alone never meets Boost.
install(TARGETS hccl EXPORT hccl-targets FILE_SET HEADERS)
install(TARGETS hccl_tuning EXPORT hccl-tuning-targets FILE_SET HEADERS)
install(TARGETS hccl_tcp EXPORT hccl-tcp-targets FILE_SET HEADERS)
foreach(export IN ITEMS hccl-targets hccl-tuning-targets hccl-tcp-targets)
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

if(TARGET hcclrun)
  install(TARGETS hcclrun)
endif()
