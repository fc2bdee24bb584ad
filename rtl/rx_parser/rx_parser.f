// SPDX-License-Identifier: Apache-2.0
common/hca_pkg.sv
rx_parser/rx_parser.sv
