// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
responder_check.sv
