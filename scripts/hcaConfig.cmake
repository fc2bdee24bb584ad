# SPDX-License-Identifier: Apache-2.0
# What find_package(hca) reads: the libraries that the targets link, then the targets hca::hca_proto ... hca::hca_tlm.
# C++20 and SC_CPLUSPLUS (the version check of Debian's libsystemc) come with the targets.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(PkgConfig)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc)
include(${CMAKE_CURRENT_LIST_DIR}/hcaTargets.cmake)

# find_package(hca COMPONENTS rtl): hca_add_rtl_block() of docs/manual/reference/rtl.md.
if(rtl IN_LIST hca_FIND_COMPONENTS)
  if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/hcaRtlTargets.cmake)
    set(hca_FOUND FALSE)
    set(hca_NOT_FOUND_MESSAGE "this hca was built without its part rtl (HCA_PARTS): there is no component rtl")
    return()
  endif()
  find_dependency(CLI11)
  find_dependency(nlohmann_json)
  find_dependency(yaml-cpp)
  find_dependency(ZLIB)
  pkg_check_modules(pcap REQUIRED IMPORTED_TARGET libpcap)
  include(${CMAKE_CURRENT_LIST_DIR}/hcaRtlTargets.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/rtl/add_rtl_block.cmake)
endif()
