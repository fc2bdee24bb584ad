#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the tests.
#   scripts/test.sh         g++ release build with all tests but the slow ones and those of hca_mutants; unit tests but
#                           the longest two, captures, vectors and soak in one build by clang with AddressSanitizer and
#                           UndefinedBehaviorSanitizer, whose libraries bounded fuzzing shares; lint: what CI runs
#   scripts/test.sh --full  the same with every test, slow ones too, under both compilers and under the sanitizers
# Stops at the first part that fails; the last lines are what was skipped, with the reasons, and the summary of ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 CTEST_OUTPUT_ON_FAILURE=1

full=false
case "${1-}" in
  '') ;;
  --full) full=true ;;
  *) echo "usage: scripts/test.sh [--full]" >&2; exit 2 ;;
esac

step() { printf '\n== %s (%ds so far)\n' "$*" "$SECONDS"; }

# build PRESET TARGETS [CMAKE_OPTION...]
build() {
  local preset=$1
  local -a targets
  read -ra targets <<<"$2"
  shift 2
  step "build $preset: ${targets[*]}"
  cmake --preset "$preset" "$@" >/dev/null
  cmake --build --preset "$preset" --target "${targets[@]}"
}

# run PRESET [CTEST_OPTION...]; some tests wait more than they work: one more than there are processors runs at a time
run() {
  local preset=$1 log
  shift
  step "test $preset"
  log=build/$preset/ctest.log
  ctest --preset "$preset" -j "$(($(nproc) + 1))" --output-junit "$PWD/build/$preset/ctest.xml" "$@" 2>&1 | tee "$log"
  scripts/skipped.py "build/$preset/ctest.xml"
  sed -n '/^100% tests passed/p; /^Total Test time/p' "$log"
}

step "set-up: Debian packages"
scripts/setup.sh
build release all
if $full; then
  for preset in clang asan; do
    build $preset all -DHCA_BUILD_BENCH=ON -DHCA_PARTS="replay;study;docs;serve;rtl"
    run $preset
  done
  build fuzz fuzz
  run fuzz -L fuzz
  build release all -DHCA_BENCH_RTL=ON
else
  build fuzz "hca_unit_tests fuzz" -DHCA_BUILD_TESTS=ON
  run fuzz -L 'unit|replay|soak|fuzz' -E 'shuffled orders and quanta give one hash|a chip with a slow block sleeps'
fi
step "lint: clang-tidy"
if $full; then
  scripts/lint.sh --full
  run release
else
  scripts/lint.sh --one-in 36
  run release -LE 'slow|mutants'
fi
