// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
crc_fold.sv
crc_advance.sv
crc_rewind.sv
icrc.sv
