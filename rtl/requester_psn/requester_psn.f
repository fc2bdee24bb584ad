// SPDX-License-Identifier: Apache-2.0
common/hca_pkg.sv
common/context_forward.sv
common/look_up_slots.sv
requester_psn/requester_psn.sv
