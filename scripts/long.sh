#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change: the tests tagged [slow], the RTL against its C++ twin for many cycles, what of it
# ran, accesses, packets and posts at random by the million, soaks of all services, libraries over the verbs on all link layers, fuzzing that
# keeps its corpus.
#   scripts/long.sh [EXECUTIONS]   of each fuzz target, 5000000 if not given
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
executions=${1:-5000000}
if ! [[ $executions =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: scripts/long.sh [EXECUTIONS]" >&2
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
  step "lockstep: rtl/$block/$block.sv and its twin"
  for seed in 1 2 3 4 5; do
    for width in 256 512; do
      build/release/hca rtl $block --cycles 10000000 --seed $seed --width $width
    done
  done
done

step "branches and bits of the RTL, and the reasons of holes"
scripts/rtl_coverage.py

step "UCX, Open MPI and MPICH on all link layers, in both kinds of time"
scripts/check_programs.py build/release/hca testbench/scenarios table wall
scripts/check_programs.py build/release/hca testbench/scenarios table sim

step "programs of rdma_cm on all link layers, in both kinds of time"
scripts/check_cm.py build/release/hca testbench/scenarios table

# Another one each day; --rng-seed repeats it.
seed=$(date +%Y%m%d)
step "isolation: a million accesses at random; functional against cycle model: a million packets and posts, a million that overlap; seed $seed"
build/release/hca_malice_tests "[million]" --rng-seed "$seed" -d yes

step "turns: all schedules with at most one change, and 840000 at random; seed $seed"
build/release/hca_turns --changes 1 --schedules 840000 --seed "$seed"

step "bottlenecks: the named limit of 104 scenarios is that whose improvement gains most"
scripts/check_bottlenecks.py build/release/hca 104

step "soak: 10 million RC messages, all path MTUs, own and shared receive queues"
begun=$SECONDS
for mtu in 256 512 1024 2048 4096; do
  for srq in false true; do
    echo "path MTU $mtu, shared receive queues $srq"
    build/release/hca run testbench/scenarios/soak_log.yaml --set workload[0].messages=500000 --set connection.path_mtu=$mtu \
      --set connection.srq=$srq | tail -n 2
  done
done
echo "10 million RC messages in $((SECONDS - begun)) s"
[ $((SECONDS - begun)) -lt 1800 ]

for service in uc ud; do
  step "soak: 2 million messages of $service"
  build/release/hca run testbench/scenarios/soak_$service.yaml --set workload[0].messages=1000000 | tail -n 4
done

for service in xrc rd; do
  step "soak: a million messages of $service"
  build/release/hca run testbench/scenarios/soak_$service.yaml --set workload[0].messages=500000 | tail -n 4
done

step "soak: 200000 messages with all RTL blocks in the path"
plain=$(build/release/hca run testbench/scenarios/soak.yaml --set run.hash=true | sed -n 's/^hash //p')
with_rtl=$(build/release/hca run testbench/scenarios/soak.yaml --set run.hash=true --set rtl=all | sed -n 's/^hash //p')
echo "hash without RTL $plain, with all RTL blocks $with_rtl"
[ -n "$plain" ] && [ "$plain" = "$with_rtl" ]

step "soak: other seeds"
for seed in $(seq 2 51); do
  build/release/hca run testbench/scenarios/soak.yaml --set run.seed="$seed" --shrink --out build/soak | grep " messages with "
done

ctest --preset fuzz -R 'fuzz: seeds'
# What a target reached is in the last line of its log: cov, edges of the program.
fuzz_one() {
  local name=$1 corpus=build/fuzz/corpus/$1 longest=4608
  [ "$name" = doorbells ] && longest=320  # 28 rings, or a WQE of 256 bytes pushed
  mkdir -p "$corpus"
  if ASAN_OPTIONS=malloc_context_size=1 "build/fuzz/fuzz_$name" -runs="$2" -entropic=0 -max_len=$longest -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/fuzz_$name-" "$corpus" "build/fuzz/testbench/fuzz/seeds/$name" >"build/fuzz/fuzz_$name.log" 2>&1; then
    echo "$name: $(grep -w DONE "build/fuzz/fuzz_$name.log" | tail -n 1)"
  else
    echo "$name: FAILED" && tail -n 40 "build/fuzz/fuzz_$name.log"
    return 1
  fi
}
export -f fuzz_one
step "fuzz: $executions executions of each target"
find testbench/fuzz -maxdepth 1 -name '*.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort |
  xargs -P "$(nproc)" -I NAME bash -c 'fuzz_one NAME '"$executions"

step "slow tests, under the sanitizers and then as released"
ctest --preset asan -L slow
ctest --preset release -L slow
