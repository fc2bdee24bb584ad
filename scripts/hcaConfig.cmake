# SPDX-License-Identifier: Apache-2.0
# What find_package(hca) reads: the libraries that the targets link, then the targets hca::hca_proto ... hca::hca_tlm.
# C++20 and SC_CPLUSPLUS (the version check of Debian's libsystemc) come with the targets.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(PkgConfig)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc)
include(${CMAKE_CURRENT_LIST_DIR}/hcaTargets.cmake)
