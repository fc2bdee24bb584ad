#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy by .clang-tidy over the sources of model/, tlm/ and testbench/ (not its tests, nor what reads the
# classes that Verilator makes), as the preset lint compiles them.
#   scripts/lint.sh [--full | --twelfth] [PATH...]
#     --full     adds the static analyzer (twice the time)
#     --twelfth  looks at one source in twelve, chosen by the commit
#     PATH       parts of paths to look at, such as model/proto
set -euo pipefail
cd "$(dirname "$0")/.."
checks='-clang-analyzer-*'
twelfth=false
case "${1-}" in
  --full) checks='' && shift ;;
  --twelfth) twelfth=true && shift ;;
esac
patterns=("$@")
if $twelfth; then
  commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
  mapfile -t patterns < <(git ls-files 'model/*.cpp' 'tlm/*.cpp' 'testbench/*.cpp' ':!testbench/tests' ':!testbench/fuzz' ':!testbench/bench/rtl' |
    awk -v "twelfth=$((16#${commit:0:6} % 12))" -v "root=$PWD" 'NR % 12 == twelfth { print root "/" $0 "$" }')
fi
[ ${#patterns[@]} -gt 0 ] || patterns=("$PWD/model/" "$PWD/tlm/" "$PWD/testbench/(?!tests/|bench/rtl/)")
cmake --preset lint >/dev/null
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! run-clang-tidy -quiet -j "$(nproc)" -p build/lint -checks="$checks" "${patterns[@]}" >"$log" 2>&1; then
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -vE '^(clang-tidy|[0-9]+ warnings? )' || true
  echo "lint: clang-tidy found the above" >&2
  exit 1
fi
echo "lint: clean, $(grep -c '^clang-tidy' "$log") files"
