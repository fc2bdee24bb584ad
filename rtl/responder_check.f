// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
context_forward.sv
look_up_slots.sv
responder_check.sv
