// SPDX-License-Identifier: Apache-2.0
common/hca_pkg.sv
packetizer/packetizer.sv
