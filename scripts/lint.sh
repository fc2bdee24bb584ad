#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy by .clang-tidy over the sources of model/, tlm/ and testbench/ (not its tests, nor what reads the
# classes that Verilator makes), as the preset lint compiles them.
#   scripts/lint.sh [--full] [PATH...]
#   scripts/lint.sh --one-in N
#     --full      adds the static analyzer (twice the time)
#     --one-in N  looks at one source in N, chosen by the commit
#     PATH        parts of paths to look at, such as model/proto
set -euo pipefail
cd "$(dirname "$0")/.."
checks='-clang-analyzer-*'
share=1
case "${1-}" in
  --full) checks='' && shift ;;
  --one-in)
    [[ $# -eq 2 && $2 =~ ^[1-9][0-9]*$ ]] || { echo "lint: --one-in needs a number, and takes no PATH" >&2; exit 2; }
    share=$2 && shift 2 ;;
esac
patterns=("$@")
if [ "$share" -gt 1 ]; then
  commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
  mapfile -t patterns < <(git ls-files 'model/*.cpp' 'tlm/*.cpp' 'testbench/*.cpp' ':!testbench/tests' ':!testbench/fuzz' ':!testbench/bench/rtl' |
    awk -v "share=$share" -v "this=$((16#${commit:0:6} % share))" -v "root=$PWD" 'NR % share == this { print root "/" $0 "$" }')
  [ ${#patterns[@]} -gt 0 ] || { echo "lint: of no source is it the turn"; exit 0; }
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
