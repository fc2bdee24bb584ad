#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the tests.
#   scripts/test.sh         g++ release build with all tests but the slow ones and those of hca_mutants; unit tests but
#                           the longest two, captures, vectors and soak in one build by clang with AddressSanitizer and
#                           UndefinedBehaviorSanitizer, whose libraries bounded fuzzing shares; lint: what CI runs
#   scripts/test.sh --full  the same with every test, slow ones too, under both compilers and under the sanitizers
# Stops at the first part that fails; the last lines are the summary of ctest.
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

# run PRESET [CTEST_OPTION...]
run() {
  local preset=$1
  shift
  step "test $preset"
  ctest --preset "$preset" "$@"
}

step "set-up: Debian packages"
scripts/setup.sh
build release all
if $full; then
  for preset in clang asan; do
    build $preset all -DHCA_BUILD_BENCH=ON -DHCA_BUILD_RTL=ON
    run $preset
  done
  build fuzz fuzz
  run fuzz -L fuzz
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
