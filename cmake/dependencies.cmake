# The dependencies: FetchContent_MakeAvailable(<name>) takes the installed package, else a pinned release.
include(FetchContent)

FetchContent_Declare(fmt SYSTEM
  GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 9 CONFIG)

FetchContent_Declare(CLI11 SYSTEM
  GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.1 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS CONFIG)

FetchContent_Declare(Catch2 SYSTEM
  GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.5.4 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS CONFIG)

FetchContent_Declare(benchmark SYSTEM
  GIT_REPOSITORY https://github.com/google/benchmark.git GIT_TAG v1.8.3 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS CONFIG)

# Of these two only headers are used: nothing of their own builds is run.
FetchContent_Declare(nlohmann_json
  GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.2 GIT_SHALLOW ON
  SOURCE_SUBDIR headers-only)

FetchContent_Declare(Boost
  URL https://archives.boost.io/release/1.81.0/source/boost_1_81_0.tar.bz2
  URL_HASH SHA256=71feeed900fbccca04a3b4f2f84a7c217186f28a940ed8b7ed4725986baf99fa
  DOWNLOAD_EXTRACT_TIMESTAMP ON SOURCE_SUBDIR headers-only)

# hcclpp_provide_headers(<package> <version> <target> <folder>): provides <target>: the parent's, the installed one or
# (at top level only) the <folder> of a fetched one.
function(hcclpp_provide_headers package version target folder)
  if(NOT TARGET ${target})
    find_package(${package} ${version} CONFIG QUIET GLOBAL)
  endif()
  if(NOT TARGET ${target} AND PROJECT_IS_TOP_LEVEL)
    FetchContent_MakeAvailable(${package})
    string(TOLOWER ${package} name)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${${name}_SOURCE_DIR}/${folder}")
  endif()
endfunction()
