#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/fast: the programs hca and hca_bench of the release build, compiled with a profile of their own runs.
# A first build counts what it runs: conformance vectors and captures, scenarios, all rows of hca_bench.
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1

step() { printf '\n== %s (%ds so far)\n' "$*" "$SECONDS"; }
# run NAME COMMAND...: one run that is counted; its output is shown only if it fails.
run() {
  local name=$1 start=$SECONDS said
  shift
  said=$("$@" 2>&1) || { echo "$said" >&2; echo "fast: failed: $*" >&2; exit 1; }
  printf '  %-20s %3ds\n' "$name" $((SECONDS - start))
}

step "1/5 set-up: Debian packages"
scripts/setup.sh
counted=build/profile
step "2/5 build $counted, which counts what it runs"
cmake --preset profile >/dev/null
cmake --build --preset profile --target hca hca_bench
step "3/5 run it"
rm -rf $counted/counts
run vectors $counted/hca replay vectors
for scenario in soak event_or_poll many_qps datagrams read_and_write; do
  run "$scenario" $counted/hca run testbench/scenarios/$scenario.yaml
done
mapfile -t rows < <($counted/hca_bench --benchmark_list_tests)
for row in "${rows[@]}"; do
  run "$row" $counted/hca_bench --benchmark_filter="^$row\$" --benchmark_min_time=0.2
done
step "4/5 build build/fast with these counts"
cmake --preset fast >/dev/null
cmake --build --preset fast --target hca hca_bench
step "5/5 compare the digests of a run"
digest() { "$1" run testbench/scenarios/soak.yaml --set run.hash=true 2>/dev/null | grep '^hash '; }
slow=$(digest $counted/hca)
fast=$(digest build/fast/hca)
echo "$counted: $slow"
echo "build/fast: $fast"
[ "$slow" = "$fast" ] || { echo "fast: the two builds do not run alike" >&2; exit 1; }
echo "fast: build/fast/hca and build/fast/hca_bench are ready"
