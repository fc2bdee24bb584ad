#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy by .clang-tidy over the sources of model/, tlm/ and testbench/ (not its tests), as the preset lint
# compiles them.
#   scripts/lint.sh [--full] [PATH...]   --full adds the static analyzer (twice the time); PATH: parts of paths to look
#                                        at, such as model/proto
set -euo pipefail
cd "$(dirname "$0")/.."
checks='-clang-analyzer-*'
if [ "${1-}" = --full ]; then
  checks=''
  shift
fi
patterns=("$@")
[ ${#patterns[@]} -gt 0 ] || patterns=("$PWD/model/" "$PWD/tlm/" "$PWD/testbench/(?!tests/)")
cmake --preset lint >/dev/null
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! run-clang-tidy -quiet -j "$(nproc)" -p build/lint -checks="$checks" "${patterns[@]}" >"$log" 2>&1; then
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -vE '^(clang-tidy|[0-9]+ warnings? )' || true
  echo "lint: clang-tidy found the above" >&2
  exit 1
fi
echo "lint: clean, $(grep -c '^clang-tidy' "$log") files"
