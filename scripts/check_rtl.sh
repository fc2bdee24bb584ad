#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints every RTL block with Verilator (-Wall, with and without its assertions), reads and checks it with Yosys, and
# prints how many cells it has. A block is a file list rtl/<block>.f.
set -euo pipefail
cd "$(dirname "$0")/../rtl"
log=$(mktemp)
trap 'rm -f "$log" "$log.cells" "$log.out"' EXIT
for list in *.f; do
  block=${list%.f}
  verilator --lint-only -Wall -f "$list" --top-module "$block"
  verilator --lint-only -Wall --assert +define+HCA_ASSERT -I. -f "$list" --top-module "$block"
  sources=$(grep '[.]sv$' "$list" | tr '\n' ' ')
  rm -f "$log.cells"
  if ! yosys -q -l "$log" -p "read_verilog -sv $sources; hierarchy -check -top $block; proc; opt; check -assert;
      memory_map; opt; techmap; opt; check -assert; tee -o $log.cells stat" >"$log.out" 2>&1; then
    cat "$log.out"
    echo "$block: Yosys does not take it" >&2
    exit 1
  fi
  echo "$block: Verilator -Wall clean, Yosys check clean; gates and flip-flops, not optimised:"
  grep -E 'Number of (memories|cells)|_[A-Z]+[0-9A-Z]*_ ' "$log.cells"
done
