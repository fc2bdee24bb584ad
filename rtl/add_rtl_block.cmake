# SPDX-License-Identifier: Apache-2.0
# hca_add_rtl_block(NAME icrc TOP my_icrc SOURCES my_icrc.sv [more.sv ...] [INCLUDES folder ...] [ELASTIC])
#
# A module of a user's own in the place of rtl/<NAME>/<NAME>.sv: the program <TOP>_lockstep runs it against the C++ twin of that
# block, with the options of `hca rtl <NAME>`, and the test "rtl: <TOP> and the twin of <NAME> are equal" does so at both
# widths. TOP has the ports and the parameter Width of rtl/<NAME>/<NAME>.sv; the sources of the latter, hca_pkg.sv among them,
# stand in front of SOURCES: no module of SOURCES may have the name of one of ours. With ELASTIC it may stall inside of packets: docs/manual/reference/rtl.md.
# Of a module that Verilator does not take, or that has other ports, the program alone cannot be built, and says why.
set(HCA_RTL_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# $finish and fatal errors of RTL do not end the program: rtl/cpp/verilated_ends.cpp, in hca_rtl, notes them.
function(hca_end_in_our_hands target)
  target_compile_definitions(${target} PRIVATE VL_USER_FINISH VL_USER_FATAL)
endfunction()

# `said`: why TOP cannot stand in the place of rtl/BLOCK/BLOCK.sv, in Verilator's words; empty: it can. A module with the ports of
# the latter has TOP inside, port by port, and is linted.
function(hca_check_ports block top sources includes said)
  find_program(HCA_VERILATOR verilator HINTS ${VERILATOR_ROOT}/bin REQUIRED)
  file(STRINGS ${HCA_RTL_FOLDER}/${block}/${block}.sv ports REGEX "^  (input|output) ")
  list(TRANSFORM ports REPLACE "^.* ([a-z_]+),?$" ".\\1" OUTPUT_VARIABLE pins)
  list(JOIN ports "\n" ports)
  list(JOIN pins ",\n    " pins)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/ports_of_rtl_${block}_for_${top}.sv)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// The ports of rtl/@block@/@block@.sv, and @top@ behind them.
module ports_of_@block@ #(
  parameter int unsigned Width = 512
) (
@ports@
);
  @top@ #(.Width(Width)) i_@top@ (
    @pins@);
endmodule
")
  foreach(width 256 512)
    execute_process(COMMAND ${HCA_VERILATOR} --lint-only --assert +define+HCA_ASSERT -Wno-fatal -Wno-lint -Wwarn-WIDTH -Wwarn-PINMISSING
                            -Wwarn-UNDRIVEN -Werror-MODDUP -I${HCA_RTL_FOLDER}/common -I${HCA_RTL_FOLDER}/${block} ${includes} -GWidth=${width} --top-module ports_of_${block} ${sources} ${file}
                    RESULT_VARIABLE failed ERROR_VARIABLE text)
    if(failed OR text MATCHES "%Warning-(WIDTH|PINMISSING|UNDRIVEN): [^\n]*/ports_of_rtl_")
      set(${said} "with ${width} bits:\n${text}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${said} "" PARENT_SCOPE)
endfunction()

function(hca_add_rtl_block)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ELASTIC" "NAME;TOP" "SOURCES;INCLUDES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hca_add_rtl_block: '${arg_UNPARSED_ARGUMENTS}' is not understood; allowed: NAME, TOP, SOURCES, INCLUDES, ELASTIC")
  endif()
  foreach(needed NAME TOP SOURCES)
    if(NOT arg_${needed})
      message(FATAL_ERROR "hca_add_rtl_block: ${needed} is missing")
    endif()
  endforeach()
  file(GLOB lists RELATIVE ${HCA_RTL_FOLDER} ${HCA_RTL_FOLDER}/*/*.f)
  list(TRANSFORM lists REPLACE "^.*/(.*)\\.f$" "\\1")
  if(NOT arg_NAME IN_LIST lists)
    list(JOIN lists ", " known)
    message(FATAL_ERROR "hca_add_rtl_block: NAME '${arg_NAME}' is no block; allowed: ${known}")
  endif()
  if(arg_NAME STREQUAL arg_TOP)
    message(FATAL_ERROR "hca_add_rtl_block: TOP is '${arg_TOP}', a module of ours; allowed: any other name")
  endif()
  if(arg_ELASTIC AND NOT arg_NAME MATCHES "^(icrc|packetizer|rx_parser)$")
    message(FATAL_ERROR "hca_add_rtl_block: ELASTIC is not for ${arg_NAME}, whose items have one beat; allowed: icrc, packetizer, rx_parser")
  endif()

  file(STRINGS ${HCA_RTL_FOLDER}/${arg_NAME}/${arg_NAME}.f ours REGEX "^[^/]")
  list(TRANSFORM ours PREPEND ${HCA_RTL_FOLDER}/)
  set(sources ${ours})
  foreach(source ${arg_SOURCES})
    cmake_path(ABSOLUTE_PATH source)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "hca_add_rtl_block: there is no ${source}")
    endif()
    list(APPEND sources ${source})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  set(includes "")
  foreach(folder ${arg_INCLUDES})
    cmake_path(ABSOLUTE_PATH folder)
    list(APPEND includes -I${folder})
  endforeach()

  set(program ${arg_TOP}_lockstep)
  foreach(width 256 512)
    set(test "rtl: ${arg_TOP} of ${width} bits and the twin of ${arg_NAME} are equal")
    add_test(NAME ${test} COMMAND ${program} --cycles 200000 --width ${width})
    set_tests_properties(${test} PROPERTIES LABELS rtl)
  endforeach()
  find_package(verilator 5.006 REQUIRED HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)
  hca_check_ports(${arg_NAME} ${arg_TOP} "${sources}" "${includes}" said)
  if(said)
    message(WARNING "hca_add_rtl_block: ${arg_TOP} cannot stand in the place of rtl/${arg_NAME}/${arg_NAME}.sv, ${said}")
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${program}.txt "${said}")
    add_custom_target(${program} ALL COMMAND ${CMAKE_COMMAND} -E cat ${program}.txt COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    return()
  endif()

  string(REPLACE "_" ";" words ${arg_NAME})
  set(lockstep "")  # rx_parser: RxParserLockstep
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND lockstep ${first}${rest})
  endforeach()
  string(APPEND lockstep Lockstep)
  set(block ${arg_NAME})
  set(top ${arg_TOP})
  if(arg_ELASTIC)
    set(elastic true)
  else()
    set(elastic false)
  endif()
  configure_file(${HCA_RTL_FOLDER}/rtl_block.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${program}.cpp @ONLY)
  add_executable(${program} ${CMAKE_CURRENT_BINARY_DIR}/${program}.cpp)
  hca_end_in_our_hands(${program})
  find_package(ZLIB REQUIRED)
  target_link_libraries(${program} PRIVATE hca::hca_lockstep hca::hca_replay CLI11::CLI11 ZLIB::ZLIB)
  foreach(width 256 512)
    verilate(${program} TRACE_FST PREFIX V${top}_${width} TOP_MODULE ${top} SOURCES ${sources}
             VERILATOR_ARGS -Wno-fatal -Werror-MODDUP --assert +define+HCA_ASSERT -I${HCA_RTL_FOLDER}/common -I${HCA_RTL_FOLDER}/${arg_NAME} ${includes} -GWidth=${width} --x-assign fast -O3 --trace-structs
             OPT_FAST -O2)
  endforeach()
endfunction()
