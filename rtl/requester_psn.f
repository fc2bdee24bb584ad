// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
requester_psn.sv
