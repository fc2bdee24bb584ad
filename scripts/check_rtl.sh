#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints every RTL block with Verilator (-Wall, with and without its assertions), reads and checks it with Yosys, and
# prints how many cells it has, all at a datapath of 256 and of 512 bits. A block is a file list rtl/<block>/<block>.f.
# Usage: check_rtl.sh [BLOCK WIDTH]
set -euo pipefail
cd "$(dirname "$0")/../rtl"
log=$(mktemp)
trap 'rm -f "$log" "$log.cells" "$log.out"' EXIT
lists=(*/*.f)
[[ $# -ge 1 ]] && lists=("$1/$1.f")
for list in "${lists[@]}"; do
  block=$(basename "$list" .f)
  sources=$(grep '[.]sv$' "$list" | tr '\n' ' ')
  for width in ${2:-256 512}; do
    verilator --lint-only -Wall -GWidth="$width" -f "$list" --top-module "$block"
    verilator --lint-only -Wall -GWidth="$width" --assert +define+HCA_ASSERT -Icommon -I"$block" -f "$list" --top-module "$block"
    rm -f "$log.cells"
    if ! yosys -q -l "$log" -p "read_verilog -sv $sources; chparam -set Width $width $block;
        hierarchy -check -top $block; proc; flatten; opt; check -assert; memory_map; opt; techmap; opt_clean; check -assert;
        tee -o $log.cells stat" >"$log.out" 2>&1; then
      cat "$log.out"
      echo "$block, $width bits: Yosys does not take it" >&2
      exit 1
    fi
    echo "$block, $width bits: Verilator -Wall clean, Yosys check clean; gates and flip-flops, not optimised:"
    grep -E 'Number of (memories|cells)|_[A-Z]+[0-9A-Z]*_ ' "$log.cells"
  done
done
