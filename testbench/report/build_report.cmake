# SPDX-License-Identifier: Apache-2.0
# Sets report_bytes to a source with the built pages, or leaves it empty and says why. The packages are those of
# package-lock.json, in the build folder; the source folder stays as it is.
find_program(NODE node)
find_program(NPM npm)
if(NOT NODE OR NOT NPM)
  message(WARNING "node or npm is absent: `hca run --out` and `hca calibrate --out` will write no page (scripts/setup.sh installs both)")
  return()
endif()
set(report_source ${CMAKE_CURRENT_SOURCE_DIR}/report)
set(report_build ${CMAKE_CURRENT_BINARY_DIR}/report)
file(MAKE_DIRECTORY ${report_build})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${report_source}/package-lock.json)
file(SHA256 ${report_source}/package-lock.json packages)
if(NOT EXISTS ${report_build}/${packages}.stamp)
  message(STATUS "Fetching the packages of the report")
  file(COPY ${report_source}/package.json ${report_source}/package-lock.json DESTINATION ${report_build})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --silent --fetch-retries=1
                  WORKING_DIRECTORY ${report_build} RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "npm could not fetch what the page of a report is built from: `hca run --out` and `hca calibrate --out` will write no page")
    return()
  endif()
  file(TOUCH ${report_build}/${packages}.stamp)
endif()
set(report_bytes ${report_build}/report_pages.cpp)
file(GLOB report_files CONFIGURE_DEPENDS ${report_source}/*.js ${report_source}/*.mjs ${report_source}/*.css ${report_source}/*.html)
add_custom_command(
  OUTPUT ${report_bytes}
  COMMAND ${CMAKE_COMMAND} -E copy ${report_files} ${report_build}
  COMMAND ${NODE} build.mjs ${report_bytes}
  DEPENDS ${report_build}/${packages}.stamp ${report_files}
  WORKING_DIRECTORY ${report_build} COMMENT "Building the pages of reports" VERBATIM)
