#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Instructions that the processor executes for a packet, by row of hca_bench: a figure that no other
# load on the machine changes. Needs valgrind.
#   scripts/instructions.sh [row ...]     default: all rows of rc_
set -euo pipefail
cd "$(dirname "$0")/.."
bench=build/release/hca_bench
command -v valgrind >/dev/null || { echo "instructions: valgrind is missing (apt-get install valgrind)" >&2; exit 2; }
[ -x "$bench" ] || { echo "instructions: $bench is missing (cmake --build --preset release)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
  mapfile -t rows < <("$bench" --benchmark_list_tests 2>/dev/null | grep '^rc_')
else
  rows=("$@")
fi
printf '%-18s %10s %22s\n' row packets 'instructions a packet'
for row in "${rows[@]}"; do
  # Only the simulated time counts, not set-up and warm-up. Without AVX the figure is that of any
  # x86-64, whatever valgrind supports.
  valgrind --tool=callgrind --callgrind-out-file="$work/out" --collect-atstart=no \
    '--toggle-collect=*simulate()' "$bench" --benchmark_filter="^$row\$" \
    --benchmark_min_time=0 --benchmark_format=json >"$work/json" 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  total=$(sed -n 's/^summary: //p' "$work/out")
  python3 - "$work/json" "$row" "$total" <<'PY'
import json, sys
text = open(sys.argv[1]).read()
row = json.loads(text[text.index("{"):])["benchmarks"][0]
print(f'{sys.argv[2]:<18} {row["packets"]:>10.0f} {int(sys.argv[3]) / row["packets"]:>22.0f}')
PY
done
