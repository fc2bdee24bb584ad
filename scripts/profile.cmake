# SPDX-License-Identifier: Apache-2.0
# The flags of HCA_PROFILE, for hca_flags.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "HCA_PROFILE=${HCA_PROFILE} needs g++; the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()
# The counts of an object file are found by its path inside its build: one build counts, another uses the counts.
set(profile_flags -fprofile-${HCA_PROFILE}=${HCA_PROFILE_DIR} -fprofile-prefix-path=${CMAKE_BINARY_DIR})
if(HCA_PROFILE STREQUAL "generate")
  target_link_options(hca_flags INTERFACE ${profile_flags})
elseif(HCA_PROFILE STREQUAL "use")
  file(GLOB counts ${HCA_PROFILE_DIR}/*.gcda)
  if(NOT counts)
    message(FATAL_ERROR "HCA_PROFILE=use: no counts in ${HCA_PROFILE_DIR}; scripts/fast.sh makes them")
  endif()
  # What was changed or added since it was counted is compiled as it is without counts.
  list(APPEND profile_flags -fprofile-partial-training -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch)
  # Copies whose size was seen often would become loops or string instructions, which are slower than memcpy(). Behind the strategy
  # of all release builds, so that this one counts.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mmemcpy-strategy=libcall:-1:noalign HCA_HAS_MEMCPY_STRATEGY)
  if(HCA_HAS_MEMCPY_STRATEGY)
    list(APPEND profile_flags -mmemcpy-strategy=libcall:-1:noalign)
  endif()
else()
  message(FATAL_ERROR "HCA_PROFILE is '${HCA_PROFILE}'; it is generate, use or empty")
endif()
target_compile_options(hca_flags INTERFACE ${profile_flags})
