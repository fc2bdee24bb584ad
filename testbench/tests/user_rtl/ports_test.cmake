# SPDX-License-Identifier: Apache-2.0
# cmake -P ports_test.cmake: modules that cannot stand in the place of rtl/icrc/icrc.sv, each with what is said of it.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../../rtl/add_rtl_block.cmake)
file(STRINGS ${HCA_RTL_FOLDER}/icrc/icrc.f sources REGEX "^[^/]")
list(TRANSFORM sources PREPEND ${HCA_RTL_FOLDER}/)
file(READ ${CMAKE_CURRENT_LIST_DIR}/untagged_icrc.sv right)

function(check name old new expected)
  string(REPLACE "${old}" "${new}" text "${right}")
  if(ARGC EQUAL 6)  # and this
    string(REPLACE "${ARGV4}" "${ARGV5}" text "${text}")
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/ports_test_${name}.sv)
  file(WRITE ${file} "${text}")
  hca_check_ports(icrc untagged_icrc "${sources};${file}" "" said)
  if(NOT said MATCHES "${expected}")
    message(SEND_ERROR "${name}: '${expected}' is not in '${said}'")
  endif()
  message(STATUS "${name}: ${expected}")
endfunction()

check(right "" "" "^$")
check(narrow "[Width-1:0] packets_out_data_o" "[Width-9:0] packets_out_data_o"
      "with 256 bits:.*ports_of_rtl_icrc_for_untagged_icrc.sv:[0-9:]+ Output port connection 'packets_out_data_o' expects 248 bits")
check(fixed "[Width-1:0] packets_in_data_i" "[255:0] packets_in_data_i"
      "with 512 bits:.*Input port connection 'packets_in_data_i' expects 256 bits")
check(more "  input  logic             clk_i," "  input  logic             clk_i,\n  input  logic             scan_i,"
      "Cell has missing pin: 'scan_i'")
check(renamed "packets_in_ready_o,\n  input" "packets_in_rdy_o,\n  input" "Pin is not an in/out/inout/param/interface:.*'packets_in_ready_o'")
check(input "output logic             packets_in_ready_o" "input  logic             packets_in_ready_o"
      "ports_of_rtl_icrc_for_untagged_icrc.sv:[0-9:]+ Signal is not driven: 'packets_in_ready_o'"
      ".packets_in_ready_o, " ".packets_in_ready_o(), ")
check(driven "output logic             packets_in_ready_o" "input  logic             packets_in_ready_o"
      "Assigning to input/const variable: 'packets_in_ready_o'")
check(output "input  logic             packets_in_valid_i" "output logic             packets_in_valid_i"
      "ports_of_rtl_icrc_for_untagged_icrc.sv:[0-9:]+.*Assigning to input/const variable: 'packets_in_valid_i'")
check(misspelt "always_comb begin" "always_comb begn" "ports_test_misspelt.sv:[0-9:]+ syntax error")
check(twice "endmodule" "endmodule\nmodule crc_fold;\nendmodule" "Duplicate declaration of module: 'crc_fold'")
