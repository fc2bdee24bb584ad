// SPDX-License-Identifier: Apache-2.0
// SPDX-License-Identifier: Apache-2.0
hca_pkg.sv
icrc.sv
