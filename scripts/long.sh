#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change: the tests tagged [slow], the RTL against its C++ twin for many cycles, what of it
# ran, the soak with many seeds, fuzzing that keeps its corpus.
#   scripts/long.sh [MINUTES]   time for the fuzzing of each target, 20 if not given
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
minutes=${1:-20}
if ! [[ $minutes =~ ^[0-9]+$ ]]; then
  echo "usage: scripts/long.sh [MINUTES]" >&2
  exit 2
fi

step() { printf '\n== %s (%ds so far)\n' "$*" "$SECONDS"; }

step "set-up: Debian packages"
scripts/setup.sh
for preset in release asan; do
  step "build $preset"
  cmake --preset $preset -DHCA_BUILD_BENCH=ON -DHCA_BUILD_RTL=ON >/dev/null
  cmake --build --preset $preset
done
step "build fuzz"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzz

for block in icrc packetizer rx_parser responder_check requester_psn completion; do
  step "lockstep: rtl/$block.sv and its twin"
  for seed in 1 2 3 4 5; do
    for width in 256 512; do
      build/release/hca rtl $block --cycles 10000000 --seed $seed --width $width
    done
  done
done

step "branches and bits of the RTL, and the reasons of holes"
scripts/rtl_coverage.py

step "soak: 200000 messages with all RTL blocks in the path"
plain=$(build/release/hca run testbench/scenarios/soak.yaml --set run.hash=true | sed -n 's/^hash //p')
with_rtl=$(build/release/hca run testbench/scenarios/soak.yaml --set run.hash=true --set rtl=all | sed -n 's/^hash //p')
echo "hash without RTL $plain, with all RTL blocks $with_rtl"
[ -n "$plain" ] && [ "$plain" = "$with_rtl" ]

step "soak: other seeds"
for seed in $(seq 2 51); do
  build/release/hca run testbench/scenarios/soak.yaml --set run.seed="$seed" --shrink --out build/soak | tail -n 1
done

ctest --preset fuzz -R 'fuzz: seeds'
for target in testbench/fuzz/*.cpp; do
  name=$(basename "$target" .cpp)
  step "fuzz $name, $minutes minutes"
  mkdir -p "build/fuzz/corpus/$name"
  "build/fuzz/fuzz_$name" -max_total_time=$((60 * minutes)) -max_len=4608 -timeout=10 -fork="$(nproc)" \
    -artifact_prefix="build/fuzz/fuzz_$name-" "build/fuzz/corpus/$name" build/fuzz/testbench/fuzz/seeds
done

step "slow tests, under the sanitizers and then as released"
ctest --preset asan -L slow
ctest --preset release -L slow
