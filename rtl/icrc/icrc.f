// SPDX-License-Identifier: Apache-2.0
common/hca_pkg.sv
icrc/crc_fold.sv
icrc/crc_advance.sv
icrc/crc_rewind.sv
icrc/icrc.sv
