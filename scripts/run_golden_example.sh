#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the SystemVerilog test bench testbench/golden/example/icrc_tb.sv around a module and libhca_golden with
# `verilator --binary`, and runs it.
# Usage: run_golden_example.sh BUILD OUT [FILE.sv [TOP]]   the folder with libhca_golden.so, where to build, the module and
# its name, the file's unless it is said
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."
module=$(realpath "${3:-rtl/icrc/icrc.sv}")
top=${4:-$(basename "$module" .sv)}
ours=(rtl/icrc/crc_fold.sv rtl/icrc/crc_advance.sv rtl/icrc/crc_rewind.sv)  # and what a module around ours has inside
[[ $top == icrc ]] || ours+=(rtl/icrc/icrc.sv)
export OBJCACHE=${OBJCACHE-$(command -v ccache || true)}  # of what Verilator's makefile compiles
verilator --binary -Wall -Wno-fatal --top-module icrc_tb --Mdir "$out" -j 2 -O3 -Itestbench/golden \
  +define+HCA_ICRC="$top" rtl/common/hca_pkg.sv "${ours[@]}" "$module" testbench/golden/example/icrc_tb.sv \
  -LDFLAGS "-L$build -lhca_golden -Wl,-rpath,$build" >"$out/build.log" 2>&1 || {
  cat "$out/build.log"
  exit 1
}
"$out/Vicrc_tb"
