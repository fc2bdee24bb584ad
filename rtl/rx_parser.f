// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
rx_parser.sv
